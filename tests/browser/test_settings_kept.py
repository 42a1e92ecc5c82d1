"""What is typed on the settings page is never lost: while answers are slow or do not come, after a reload, by keys alone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from compaction.core.document import Op
from compaction.services.settings import mutate
from tests.browser import IN_BROWSER
from tests.browser.test_settings import changes, save, saved

pytestmark = IN_BROWSER


def test_what_is_typed_without_a_connection_is_kept_and_may_be_saved(edit, profile):
    page = edit()
    page.context.set_offline(True)
    page.get_by_label("Threshold", exact=True).fill("0.5")
    expect(page.get_by_role("alert")).to_contain_text("your draft is kept here")
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_enabled()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("your draft is kept here")
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_focused()
    page.context.set_offline(False)
    page.reload()
    changes(page, "1 change")
    expect(page.get_by_label("Threshold", exact=True)).to_have_value("0.5")
    save(page)
    expect(page.get_by_text("saved — reload profile")).to_be_visible()
    assert saved(profile) == (1, {"thresholdRatio": 0.5})


def test_what_is_typed_is_kept_at_once(edit):
    page = edit()
    page.get_by_label("Threshold", exact=True).fill("0.5")
    page.reload()
    changes(page, "1 change")
    expect(page.get_by_label("Threshold", exact=True)).to_have_value("0.5")


def test_nothing_can_be_typed_that_the_answer_to_a_save_would_replace(edit, profile):
    page = edit()
    threshold = page.get_by_label("Threshold", exact=True)
    threshold.fill("0.5")
    changes(page, "1 change")
    held = []
    page.route("**/compaction/", lambda route: held.append(route))
    save(page)
    with pytest.raises(Exception, match="Timeout"):
        threshold.click(timeout=500)
    held[0].continue_()
    expect(page.get_by_text("saved — reload profile")).to_be_visible()
    assert saved(profile) == (1, {"thresholdRatio": 0.5})


def test_the_bar_says_that_an_answer_is_waited_for(edit):
    page = edit()
    bar, held = page.locator('[data-part="save"]'), []
    page.route("**/compaction/", lambda route: held.append(route))
    page.get_by_label("Threshold", exact=True).fill("0.5")
    expect(bar).to_have_attribute("aria-busy", "true")
    page.unroute("**/compaction/")
    page.get_by_label("Threshold", exact=True).fill("0.4")
    changes(page, "1 change")
    expect(bar).not_to_have_attribute("aria-busy", "true")
    page.route("**/compaction/", lambda route: route.abort())
    page.get_by_label("Threshold", exact=True).fill("0.3")
    expect(page.get_by_role("alert")).to_be_visible()
    expect(bar).not_to_have_attribute("aria-busy", "true")


def test_an_earlier_revision_is_edited_and_survives_a_reload(edit, profile, people):
    mutate(profile, (Op("set", "thresholdRatio", 0.5),), 0, by=people.alice)
    mutate(profile, (Op("set", "thresholdRatio", 0.6),), 1, by=people.alice)
    page = edit("?from=1")
    changes(page, "1 change")
    page.get_by_text("Advanced").click()
    page.get_by_label("Headroom").fill("30000")
    changes(page, "2 changes")
    page.reload()
    changes(page, "2 changes")
    expect(page.locator("#id_headroomTokens")).to_have_value("30000")


def test_a_retained_tail_that_is_typed_is_the_one_that_counts(edit, profile):
    page = edit()
    page.get_by_label("Retained tail (tokens)").fill("20000")
    changes(page, "1 change")
    expect(page.get_by_role("radio", name="as a number")).to_be_checked()
    save(page)
    expect(page.get_by_text("saved — reload profile")).to_be_visible()
    assert saved(profile) == (1, {"retainTokens": 20000})


def test_the_way_back_to_a_default_ends_in_its_field(edit):
    page = edit()
    page.get_by_label("Threshold", exact=True).fill("0.5")
    changes(page, "1 change")
    page.get_by_role("button", name="use default Threshold").focus()
    page.keyboard.press("Enter")
    changes(page, "No changes")
    expect(page.get_by_label("Threshold", exact=True)).to_be_focused()


def test_what_does_not_fit_is_told_to_those_who_listen(edit):
    page = edit()
    page.get_by_label("Threshold", exact=True).fill("1")
    expect(page.locator("[data-live]")).to_have_text("1 change 1 setting does not fit")
    page.get_by_label("Retained tail (share)").fill("much")
    expect(page.get_by_label("Retained tail (share)")).to_have_attribute("aria-invalid", "true")


def test_the_forms_of_the_export_are_no_part_of_the_draft(edit, profile, tmp_path):
    profile.path = str(tmp_path / "cordis.patch.yml")
    profile.save()
    page = edit()
    page.get_by_role("radio", name="compaction-basic").check()
    assert page.locator('[data-part="save"]').get_attribute("aria-busy") is None
