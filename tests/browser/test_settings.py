"""The settings page in a real browser: a draft that is judged while it is typed, kept, saved once, and never lost or shown as saved."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from compaction.core.document import Op
from compaction.models import Profile
from compaction.services.settings import mutate
from dshweb.sessionlog.models import Session
from tests.browser import IN_BROWSER

pytestmark = IN_BROWSER


def saved(profile: Profile) -> tuple[int, dict]:
    profile.refresh_from_db()
    return profile.revision, profile.document


def changes(page, text: str) -> None:
    expect(page.locator('[data-part="save"] strong')).to_have_text(text)


def save(page) -> None:
    button = page.get_by_role("button", name="Save", exact=True)
    expect(button).to_be_enabled()
    button.click()


def test_a_change_is_drawn_and_judged_while_it_is_typed_and_saves_nothing(edit, profile):
    page = edit(f"?session={Session.unscoped.filter(preset='').latest('pk').pk}")
    threshold = page.get_by_label("Threshold", exact=True)
    before = page.locator('[data-part="budget"]').inner_html()
    threshold.fill("0.5")
    changes(page, "1 change")
    assert page.locator('[data-part="budget"]').inner_html() != before
    expect(page.locator('[data-part="tag-thresholdRatio"]')).to_contain_text("set")
    threshold.fill("1")
    expect(page.locator('[data-part="said-thresholdRatio"] .wrong')).to_have_count(1)
    expect(threshold).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    threshold.fill("0.6")
    expect(threshold).not_to_have_attribute("aria-invalid", "true")
    page.locator('[data-part="tag-thresholdRatio"] .set-unset').click()
    changes(page, "No changes")
    expect(threshold).to_have_value("")
    assert saved(profile) == (0, {})
    assert page.complaints == []


def test_a_draft_survives_a_reload_until_it_is_saved_or_dropped(edit, profile):
    page = edit()
    page.get_by_text("Advanced").click()
    page.get_by_label("Headroom").fill("30 000")
    page.get_by_role("radio", name=re.compile("native")).check()
    changes(page, "2 changes")
    page.reload()
    changes(page, "2 changes")
    expect(page.locator("#id_headroomTokens")).to_have_value("30000")
    expect(page.get_by_role("radio", name=re.compile("native"))).to_be_checked()
    page.get_by_role("link", name="Discard").click()
    changes(page, "No changes")
    page.reload()
    changes(page, "No changes")
    page.get_by_role("radio", name=re.compile("hand-?off", re.I)).check()
    save(page)
    expect(page.get_by_text("saved — reload profile")).to_be_visible()
    expect(page.locator(".saved")).to_be_focused()
    assert saved(profile) == (1, {"mode": "handoff"})
    page.reload()
    changes(page, "No changes")
    expect(page.get_by_text("saved — reload profile")).to_have_count(0)
    assert page.complaints == []


def test_the_cards_are_chosen_by_keys_alone_and_native_keeps_what_does_not_apply(edit, profile):
    page = edit()
    cards = page.get_by_role("radiogroup", name="Strategy").get_by_role("radio")
    expect(cards).to_have_count(3)
    cards.nth(1).focus()
    page.keyboard.press("Home")
    expect(cards.nth(0)).to_be_focused()
    expect(cards.nth(0)).to_be_checked()
    expect(page.locator(".mode:has(:checked)").get_by_text("✓ Selected")).to_be_visible()
    expect(page.get_by_text("✓ Selected").locator("visible=true")).to_have_count(1)
    expect(page.get_by_label("Reasoning effort")).to_be_disabled()
    expect(page.get_by_role("switch", name=re.compile("cache"))).to_be_disabled()
    expect(page.get_by_text("Not applicable: the native implementation decides")).to_have_count(2)
    page.keyboard.press("End")
    expect(cards.nth(2)).to_be_checked()
    page.keyboard.press("ArrowLeft")
    expect(cards.nth(1)).to_be_checked()
    page.get_by_label("Reasoning effort").fill("high")
    page.get_by_role("switch", name=re.compile("cache")).press("Space")
    cards.nth(1).focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    changes(page, "3 changes")
    save(page)
    expect(page.get_by_text("saved — reload profile")).to_be_visible()
    assert saved(profile) == (1, {"mode": "native", "reasoningEffort": "high", "cachePriority": False})
    page.get_by_role("radio", name=re.compile("Goal")).check()
    expect(page.get_by_label("Reasoning effort")).to_have_value("high")
    expect(page.get_by_role("switch", name=re.compile("cache"))).not_to_be_checked()
    assert page.complaints == []


def test_two_who_edit_at_once(edit, profile, people):
    first, second = edit(), edit()
    first.get_by_label("Threshold", exact=True).fill("0.5")
    changes(first, "1 change")
    second.get_by_role("radio", name=re.compile("native")).check()
    changes(second, "1 change")
    save(second)
    expect(second.get_by_text("saved — reload profile")).to_be_visible()
    first.get_by_role("button", name="Save", exact=True).click()
    conflict = first.locator("[data-conflict].card")
    expect(conflict).to_be_focused()
    expect(conflict).to_contain_text("You saved elsewhere while you were editing here")
    expect(conflict.get_by_role("row", name=re.compile("Threshold"))).to_contain_text("0.5")
    expect(first.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    assert saved(profile) == (1, {"mode": "native"})
    first.reload()
    expect(conflict).to_be_visible()
    first.get_by_role("button", name="Put my changes on revision 1").click()
    changes(first, "1 change")
    save(first)
    expect(first.get_by_text("saved — reload profile")).to_be_visible()
    assert saved(profile) == (2, {"mode": "native", "thresholdRatio": 0.5})


def test_a_conflict_is_told_before_anybody_saves_and_the_saved_values_come_back(edit, profile, people):
    page = edit()
    page.get_by_label("Threshold", exact=True).fill("0.5")
    changes(page, "1 change")
    mutate(profile, (Op("set", "auto", value=False),), 0, by=people.bob)
    page.get_by_label("Threshold", exact=True).fill("0.55")
    changes(page, "Your draft is kept; saving is off until you choose")
    expect(page.get_by_text("Somebody else saved while you were editing")).to_be_visible()
    page.set_viewport_size({"width": 360, "height": 900})
    saved_side = page.get_by_role("cell", name=re.compile("off")).bounding_box()
    assert saved_side["x"] + saved_side["width"] <= 360, "both sides are in sight on a phone"
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    page.get_by_role("link", name="Reload saved values").click()
    changes(page, "No changes")
    expect(page.get_by_label("Threshold", exact=True)).to_have_value("")


def test_an_answer_that_never_comes_is_no_success_and_loses_nothing(edit, profile):
    page = edit()
    page.get_by_label("Threshold", exact=True).fill("0.5")
    changes(page, "1 change")

    def lose(route):
        if b"save" in route.request.post_data_buffer:
            route.fetch()
            route.abort()
        else:
            route.continue_()

    page.route("**/compaction/", lose)
    save(page)
    expect(page.get_by_role("alert")).to_contain_text("Nothing is shown as saved")
    expect(page.get_by_text("saved — reload profile")).to_have_count(0)
    expect(page.get_by_label("Threshold", exact=True)).to_have_value("0.5")
    page.unroute("**/compaction/")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("These values are saved already")).to_be_visible()
    assert saved(profile) == (1, {"thresholdRatio": 0.5})
    page.get_by_role("link", name="Reload saved values").click()
    changes(page, "No changes")
    expect(page.get_by_label("Threshold", exact=True)).to_have_value("0.5")


def test_switching_the_session_breaks_off_the_older_question(edit, profile):
    page = edit()
    picker = page.get_by_label("Show the state of")
    ids = [one.pk for one in Session.unscoped.filter(preset="")]
    expect(picker).not_to_have_value("none")
    broken, held = [], []
    page.on("requestfailed", lambda request: broken.append(request.url))
    page.route("**/compaction/", lambda route: held.append(route) if not held else route.continue_())
    picker.select_option("none")
    picker.select_option(str(ids[0]))
    expect(page.get_by_role("link", name="Open the session")).to_have_attribute("href", f"/sessions/{ids[0]}/")
    assert len(broken) == 1
    picker.select_option("none")
    expect(page.get_by_text("Without a session only the state of the profile is shown")).to_be_visible()
    assert page.url.endswith("?session=none")


def test_a_session_that_another_engine_serves_gets_no_chart_but_its_real_compactions(edit, profile):
    page = edit(f"?session={Session.unscoped.exclude(preset='').first().pk}")
    expect(page.locator('[data-part="state"]')).to_contain_text("Another compaction engine runs this session")
    expect(page.locator('[data-part="budget"] svg[role=img]')).to_have_count(0)
    expect(page.get_by_role("link", name="Open the audit")).to_be_visible()


def test_a_viewer_reads_everything_and_changes_nothing(edit, profile, people):
    page = edit(who=people.vera)
    expect(page.get_by_role("button", name="Save", exact=True)).to_have_count(0)
    expect(page.get_by_text("admins of the team change them")).to_be_visible()
    for field in page.locator("#draft input:visible, #draft select:visible").all():
        if field.get_attribute("name") != "session" and field.get_attribute("type") != "range":
            assert not field.is_editable(), field.evaluate("one => one.outerHTML")
    page.get_by_label("Show the state of").select_option("none")
    expect(page.get_by_text("Without a session only the state of the profile is shown")).to_be_visible()
    assert page.complaints == []


def test_without_scripts_it_is_a_plain_form_with_the_same_rules(edit, profile, people):
    page = edit(scripts=False)
    page.get_by_label("Threshold", exact=True).fill("1")
    page.locator(".savebar").get_by_role("button", name="Preview").click()
    expect(page.locator('[data-part="said-thresholdRatio"] .wrong')).to_have_count(1)
    page.get_by_label("Threshold", exact=True).fill("0.5")
    page.get_by_role("radio", name=re.compile("native")).check()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("saved — reload profile")).to_be_visible()
    assert saved(profile) == (1, {"mode": "native", "thresholdRatio": 0.5})
    page.get_by_label("Threshold", exact=True).fill("0.4")
    mutate(profile, (Op("set", "auto", value=False),), 1, by=people.bob)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Somebody else saved while you were editing")).to_be_visible()
    page.get_by_role("button", name="Put my changes on revision 2").click()
    page.get_by_role("button", name="Save", exact=True).click()
    assert saved(profile) == (3, {"mode": "native", "auto": False, "thresholdRatio": 0.4})


def test_a_ratio_is_dragged_and_shows_where_it_would_have_fired(edit, profile):
    page = edit(f"?session={Session.unscoped.filter(preset='').latest('pk').pk}")
    slider = page.locator("[data-ratio][type=range]")
    slider.scroll_into_view_if_needed()
    expect(page.locator("[data-look]")).to_be_visible()
    slider.fill("0.3")
    expect(page.get_by_label("Threshold", exact=True)).to_have_value("0.3")
    expect(page.locator('[data-out="ratio"]')).to_have_text("0.3")
    changes(page, "1 change")
    assert page.complaints == []


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 360, 768, 1440, 1920])
def test_it_fits_and_axe_finds_nothing_serious(edit, profile, width, theme):
    page = edit(width=width, cookies={"theme": theme})
    page.get_by_text("Advanced").click()
    page.get_by_label("Threshold", exact=True).fill("1")
    expect(page.locator('[data-part="said-thresholdRatio"] .wrong')).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    small = page.evaluate("""() => [...document.querySelectorAll("svg text")].filter((one) => one.getClientRects().length).map((one) => {
        const box = one.ownerSVGElement, scale = one.getScreenCTM().a;
        return [one.textContent, parseFloat(getComputedStyle(one).fontSize) * scale];
    }).filter(([, size]) => size < 10.95)""")
    assert small == []
    wrong = [one["id"] for one in Axe().run(page).response["violations"] if one["impact"] in ("serious", "critical")]
    assert wrong == []


def test_nothing_moves_for_those_who_asked_for_that(browser, live_server, client, people, profile):
    client.force_login(people.alice)
    context = browser.new_context(reduced_motion="reduce")
    context.add_cookies(
        [{"name": "dshweb_session", "value": client.cookies["dshweb_session"].value, "url": live_server.url}]
    )
    page = context.new_page()
    page.goto(f"{live_server.url}/profiles/{profile.pk}/compaction/")
    moving = page.evaluate("""() => [...document.querySelectorAll("main *")].filter((one) => ["", "::before"].some((part) => {
        const style = getComputedStyle(one, part || null);
        const lasts = (text) => parseFloat(text) > 0.001;
        return lasts(style.transitionDuration) || (style.animationName !== "none" && lasts(style.animationDuration));
    })).map((one) => one.outerHTML.slice(0, 80))""")
    assert moving == []
    context.close()
