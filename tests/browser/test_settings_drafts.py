"""The draft in the browser: what another window, a slow or failing network, or a lost role makes of it."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from dshweb.access.models import Membership, Role
from tests.browser import IN_BROWSER
from tests.browser.test_settings import changes, save, saved

pytestmark = IN_BROWSER

NAME = "(({ user, settings }) => `dshweb.draft.${user}.${settings}`)(document.querySelector('[data-settings]').dataset)"


def threshold(page):
    return page.get_by_label("Threshold", exact=True)


def stored(page) -> str:
    return page.evaluate(f"localStorage.getItem({NAME}) ?? ''")


def store(page, text: str) -> None:
    page.evaluate(f"(text) => localStorage.setItem({NAME}, text)", text)


def looks_again(page) -> None:
    """Comes back to the window, which then asks how things stand; waits for the answer."""
    with page.expect_response(lambda answer: answer.request.method == "POST"):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def test_another_window_does_not_take_the_draft_away(edit):
    page = edit()
    other = page.context.new_page()
    other.goto(page.url)
    threshold(page).fill("0.5")
    changes(page, "1 change")
    other.get_by_label("Show the state of").select_option("none")
    expect(other.get_by_text("Without a session only the state of the profile is shown")).to_be_visible()
    page.reload()
    changes(page, "1 change")
    threshold(other).fill("0.4")
    changes(other, "1 change")
    threshold(other).fill("")
    changes(other, "No changes")
    looks_again(page)
    page.reload()
    changes(page, "1 change")
    expect(threshold(page)).to_have_value("0.5")


def test_a_draft_that_could_not_be_shown_is_shown_once_the_server_answers(edit, profile):
    page = edit()
    threshold(page).fill("0.5")
    changes(page, "1 change")
    page.route("**/compaction/", lambda route: route.abort() if route.request.method == "POST" else route.continue_())
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("your draft is kept here")
    with pytest.raises(Exception, match="Timeout"):
        threshold(page).click(timeout=500)
    assert "0.5" in stored(page)
    page.unroute("**/compaction/")
    looks_again(page)
    expect(threshold(page)).to_have_value("0.5")
    changes(page, "1 change")
    save(page)
    expect(page.get_by_text("saved — reload profile")).to_be_visible()
    assert saved(profile) == (1, {"thresholdRatio": 0.5})
    assert stored(page) == ""


def test_who_lost_the_role_while_editing_is_told_so(edit, profile, people):
    page = edit()
    threshold(page).fill("0.5")
    changes(page, "1 change")
    Membership.objects.filter(user=people.alice).update(role=Role.MEMBER)
    save(page)
    expect(page.get_by_role("alert")).to_contain_text("You cannot change these settings now")
    expect(threshold(page)).to_have_value("0.5")
    assert saved(profile) == (0, {})
    Membership.objects.filter(user=people.alice).update(role=Role.ADMIN)
    save(page)
    expect(page.get_by_text("saved — reload profile")).to_be_visible()


@pytest.mark.parametrize("who", ["alice", "carol"])
def test_who_logs_in_again_in_another_tab_saves_the_draft_and_nobody_else_does(edit, profile, people, who, live_server):
    carol = type(people.alice).objects.create_user("carol", password="carol-password")
    Membership.objects.create(team=people.team, user=carol, role=Role.ADMIN)
    page = edit()
    threshold(page).fill("0.5")
    changes(page, "1 change")
    page.context.clear_cookies(name="dshweb_session")
    save(page)
    expect(page.get_by_role("alert")).to_contain_text("logged out")
    other = page.context.new_page()
    other.goto(f"{live_server.url}/login/")
    other.locator("input[name=username]").fill(who)
    other.locator("input[name=password]").fill(f"{who}-password")
    other.locator("main form button.btn-main").click()
    other.wait_for_url(lambda url: "login" not in url)
    save(page)
    if who == "alice":
        expect(page.get_by_text("saved — reload profile")).to_be_visible()
        assert saved(profile) == (1, {"thresholdRatio": 0.5})
    else:
        expect(page.get_by_role("alert")).to_contain_text("somebody else is logged in here")
        assert saved(profile) == (0, {})
        page.reload()
        changes(page, "No changes")


@pytest.mark.parametrize("text", ["{", "5", "[5]", '{"a":1}', "null", '[["thresholdRatio",{}]]', "[]"])
def test_what_is_no_draft_is_left_alone(edit, text):
    page = edit()
    store(page, text)
    page.reload()
    threshold(page).fill("0.5")
    changes(page, "1 change")
    assert page.complaints == []


def test_a_draft_that_no_form_can_be_does_not_stand_in_the_way(edit):
    page = edit()
    store(page, '[["thresholdRatio","0.4"]]')
    page.reload()
    expect(page.get_by_role("alert")).to_be_visible()
    threshold(page).fill("0.5")
    changes(page, "1 change")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_markup_in_a_draft_stays_text(edit):
    page = edit()
    nasty = '"><img src=x onerror="window.hit=1"><script>window.hit=1</script>'
    fields = {"revision": "0", "plain": "auto", "mode": nasty, "route": json.dumps([nasty, nasty]), "session": nasty,
              "reasoningEffort": nasty, "thresholdRatio": nasty}  # fmt: skip
    store(page, json.dumps(list(fields.items())))
    page.reload()
    changes(page, "5 changes")
    assert page.evaluate("[window.hit, document.querySelectorAll('img[src=x]').length]") == [None, 0]
    assert page.complaints == []


def test_a_double_click_saves_once(edit, profile):
    page = edit()
    threshold(page).fill("0.5")
    changes(page, "1 change")
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_enabled()
    page.get_by_role("button", name="Save", exact=True).dblclick()
    expect(page.get_by_text("saved — reload profile")).to_be_visible()
    assert saved(profile) == (1, {"thresholdRatio": 0.5})


def test_without_a_store_the_page_works(edit):
    page = edit()
    page.context.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('off', 'SecurityError'); } })"
    )
    page.reload()
    threshold(page).fill("0.5")
    changes(page, "1 change")
    save(page)
    expect(page.get_by_text("saved — reload profile")).to_be_visible()
    assert page.complaints == []


def test_an_older_draft_does_not_come_back_where_the_newer_one_found_no_room(edit, profile):
    page = edit()
    threshold(page).fill("0.5")
    changes(page, "1 change")
    page.evaluate(
        "() => { Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }; }"
    )
    threshold(page).fill("0.6")
    save(page)
    expect(page.get_by_text("saved — reload profile")).to_be_visible()
    assert stored(page) == ""
    assert saved(profile) == (1, {"thresholdRatio": 0.6})


def test_a_line_that_went_dead_gives_the_form_back(edit, profile):
    page = edit()
    page.clock.install()
    page.reload()
    threshold(page).fill("0.5")
    changes(page, "1 change")
    page.route("**/compaction/", lambda route: None)
    save(page)
    expect(page.locator(".set")).to_have_attribute("inert", "")
    page.clock.fast_forward("01:00")
    expect(page.get_by_role("alert")).to_contain_text("Nothing is shown as saved")
    page.unroute("**/compaction/")
    threshold(page).fill("0.6")
    save(page)
    expect(page.get_by_text("saved — reload profile")).to_be_visible()
    assert saved(profile) == (1, {"thresholdRatio": 0.6})


@pytest.mark.parametrize("scripts", [True, False])
def test_who_comes_back_after_a_save_meets_what_was_saved(edit, profile, scripts):
    page = edit(scripts=scripts)
    page.goto(f"{page.url}?session=none")
    threshold(page).fill("0.5")
    if scripts:
        changes(page, "1 change")
    save(page)
    expect(page.get_by_text("saved — reload profile")).to_be_visible()
    page.get_by_role("link", name="All revisions").click()
    expect(page).to_have_url(re.compile("/history/"))
    page.go_back()
    changes(page, "No changes")
    expect(threshold(page)).to_have_value("0.5")
    if not scripts:
        page.go_back()
        expect(threshold(page)).to_have_value("0.5")
