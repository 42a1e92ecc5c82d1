"""Reviewing in a real browser: by keyboard, with notes, through failures, and without scripts."""

from __future__ import annotations

import re

import pytest

from tests.browser import IN_BROWSER

pytestmark = IN_BROWSER


@pytest.fixture
def audited(people):
    from dshweb.ui.tests.rows import make_audited, make_policy

    make_policy(people.team)
    return make_audited(people.team, people.bob)


@pytest.fixture
def visit(opens, client, people):
    """A page of alice's browser, who may review; what the console complained about is in `page.complaints`."""
    client.force_login(people.alice)
    return opens


def verdicts():
    from audit.models import Signal

    return dict(Signal.unscoped.values_list("pk", "review"))


def current(page):
    return page.locator('.signal[aria-current="true"]')


def judge(page, key):
    """Presses a key and waits for what the server says."""
    pk = current(page).get_attribute("data-signal")
    page.keyboard.press(key)
    wanted = {"c": "confirmed", "d": "dismissed", "u": "open"}[key]
    page.locator(f'.signal[data-signal="{pk}"] .verdict[data-verdict="{wanted}"]').wait_for(state="attached")
    return int(pk), wanted


@pytest.mark.parametrize("where", ["list", "compaction"])
def test_ten_signals_are_reviewed_by_keyboard(visit, audited, where):
    page = visit("/signals/" if where == "list" else f"/compactions/{audited.pk}/")
    current(page).wait_for()
    given = dict(judge(page, key) for key in "cdcdccddcd")
    assert len(given) == 10, "after a verdict the next open one is current"
    stored = verdicts()
    assert {pk: stored[pk] for pk in given} == given
    assert sum(1 for verdict in stored.values() if verdict == "open") == len(stored) - 10
    if where == "compaction":
        assert re.search(r"10 of \d+ reviewed", page.locator(":has(> [data-reviewed])").inner_text())
    assert page.complaints == []


def test_a_verdict_is_undone_and_done_again(visit, audited):
    page = visit("/signals/")
    first, _ = judge(page, "c")
    page.keyboard.press("k")
    assert current(page).get_attribute("data-signal") == str(first)
    counts = page.locator(".chip[data-verdict] b")
    assert counts.all_inner_texts()[1:] == ["1", "0"]
    judge(page, "u")
    assert counts.all_inner_texts()[1:] == ["0", "0"]
    assert current(page).get_attribute("data-signal") == str(first), "an open one stays current"
    judge(page, "d")
    assert verdicts()[first] == "dismissed"
    assert page.locator(f'.signal[data-signal="{first}"] .verdict-h summary').inner_text() == "History: 3 entries"


def test_a_note_is_written_and_saved_without_the_mouse(visit, audited):
    from audit.models import Review

    page = visit("/signals/")
    pk = current(page).get_attribute("data-signal")
    page.keyboard.press("n")
    page.keyboard.type("cd under j")
    assert current(page).get_attribute("data-signal") == pk, "letters in a note are letters"
    page.keyboard.press("Escape")
    assert not current(page).locator(".verdict-f").is_visible()
    page.keyboard.press("n")
    page.keyboard.type(" – 换了说法")
    page.keyboard.press("Control+Enter")
    page.locator(f'.signal[data-signal="{pk}"] .verdict-said', has_text="换了说法").first.wait_for()
    review = Review.unscoped.get()
    assert (review.verdict, review.note) == ("open", "cd under j – 换了说法")
    page.locator(f'.signal[data-signal="{pk}"]').focus()
    judge(page, "c")
    assert Review.unscoped.latest("id").note == "cd under j – 换了说法"
    assert page.complaints == []


def test_a_failure_keeps_the_note_and_never_looks_like_success(visit, audited, people, client):
    from audit.models import Review

    page = visit("/signals/")
    page.route("**/review", lambda route: route.abort())
    page.keyboard.press("n")
    page.keyboard.type("do not lose me")
    page.keyboard.press("Control+Enter")
    error = current(page).locator(".verdict-e")
    error.wait_for()
    assert "Not saved" in error.inner_text()
    assert current(page).locator("textarea").input_value() == "do not lose me"
    assert current(page).locator(".verdict").get_attribute("data-verdict") == "open"
    page.unroute("**/review")
    client.logout()
    page.keyboard.press("Control+Enter")
    page.get_by_text("you are logged out").first.wait_for()
    assert current(page).locator("textarea").input_value() == "do not lose me"
    assert not Review.unscoped.exists()


def test_who_may_not_review_any_more_is_told_so(visit, audited, people):
    from dshweb.access.models import Membership

    page = visit("/signals/")
    Membership.objects.filter(user=people.alice).update(can_review=False)
    page.keyboard.press("c")
    error = current(page).locator(".verdict-e")
    error.wait_for()
    assert "not review it" in error.inner_text()
    assert set(verdicts().values()) == {"open"}


def test_without_scripts_it_is_a_form(visit, audited):
    page = visit("/signals/?kind=altered", scripts=False)
    row = page.locator(".signal").first
    row.locator(".verdict-do summary").click()
    row.locator("textarea").fill("seen")
    row.get_by_role("button", name="Confirm").click()
    assert page.locator(".signal").count() == 0
    assert re.search(r"/signals/\?kind=altered#s-\d+$", page.url)
    page.get_by_role("link", name=re.compile("confirmed")).click()
    assert "seen" in page.locator(".verdict-said").first.inner_text()
    assert list(verdicts().values()).count("confirmed") == 1


@pytest.mark.parametrize("width", [320, 768, 1920])
def test_the_list_fits_the_window(visit, audited, width):
    page = visit("/signals/?verdict=all", width=width)
    page.locator("details.narrow > summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.complaints == []
