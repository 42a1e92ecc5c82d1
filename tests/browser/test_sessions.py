"""The sessions in a real browser: keys of the list, the way to a finding, and a session that is followed while it is written."""

from __future__ import annotations

import re
from pathlib import Path

from dshweb.pages.tests.logs import ROWS, bring_in, ingest
from dshweb.sessionlog.models import Session
from tests.browser import IN_BROWSER
from tests.builders import human

pytestmark = IN_BROWSER


def test_keys_walk_the_list_and_open_the_worst_compaction(visit, live_server):
    page = visit()
    page.goto(f"{live_server.url}/sessions/")
    page.keyboard.press("k")
    assert page.locator("[data-row]").last.evaluate("one => one.classList.contains('here')"), (
        "up from nowhere is the last"
    )
    page.reload()
    page.keyboard.press("j")
    assert page.locator("tr.here .cell-main").inner_text() == "Two data reports, then change the port"
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("o")
    page.wait_for_url(re.compile(r"/compactions/\d+/"))
    page.go_back()
    page.complaints.clear()  # of the page of the compaction, which has tests of its own
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    page.keyboard.press("Escape")
    page.locator("#keys").wait_for(state="hidden")
    page.keyboard.press("/")
    page.keyboard.type("jjj")
    assert page.locator("#q").input_value() == "jjj"
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/sessions/\?q=jjj$"))
    assert page.complaints == []


def test_the_path_without_a_source_in_the_demo_is_found_in_under_five_keys(visit, live_server, people, data_dir):
    Session.unscoped.all().delete()
    ingest(people, Path(__file__).parent.parent.parent / "demo", people.bob)
    for keys, path in (("ao", "/srv/demo-app/config/gateway.yaml"), ("ajjo", "/srv/demo-app/deploy/rollout.yaml")):
        page = visit()
        page.goto(f"{live_server.url}/sessions/")
        for key in keys:
            page.keyboard.press(key)
            page.wait_for_load_state()
            if key == "a":
                page.wait_for_url(re.compile("sort=attention"))
        page.wait_for_url(re.compile(r"/compactions/\d+/"))
        assert page.locator(".signal", has_text=path).first.is_visible()


def test_choosing_a_filter_applies_it_and_the_address_names_only_what_is_set(visit, live_server):
    page = visit()
    page.goto(f"{live_server.url}/sessions/")
    page.select_option("select[name=status]", "damaged")
    page.wait_for_url(re.compile(r"/sessions/\?status=damaged$"))
    assert page.locator("[data-row]").count() == 1
    page.locator(".cell-main").first.click()
    page.wait_for_url(re.compile(r"/sessions/\d+/$"))
    page.locator("[data-sessions]").click()
    page.wait_for_url(re.compile(r"/sessions/\?status=damaged$"))
    page.locator(".chip").click()
    page.wait_for_url(re.compile(r"/sessions/\??$"))
    assert page.locator("[data-row]").count() > 1


def test_a_session_that_is_written_is_followed_without_a_reload(visit, live_server, people, tmp_path, data_dir):
    session = bring_in(people, tmp_path / "home", ROWS[:7], owner=people.bob)
    page = visit()
    page.goto(f"{live_server.url}/sessions/{session.pk}/")
    page.locator("details.call").first.locator("summary").click()
    page.evaluate("window.scrollTo(0, 0)")
    more = [*ROWS[:7], *(human(n, f"news {n} " + "word " * 400) for n in range(7, 12))]
    bring_in(people, tmp_path / "home", more, owner=people.bob)
    page.wait_for_selector("#seq-11", timeout=20_000)
    page.locator(".read li", has_text="12 events").wait_for(timeout=20_000)
    assert page.evaluate("window.scrollY") == 0
    assert page.locator("details.call").first.evaluate("one => one.open")
    button = page.locator("[data-newest] button")
    assert button.is_visible()
    button.click()
    page.wait_for_function("document.querySelector('#seq-11').getBoundingClientRect().bottom <= innerHeight + 2")
    assert page.locator("#seq-6").count() == 1
    assert page.complaints == []


def test_a_session_that_is_gone_is_not_said_to_be_followed(visit, live_server, people, tmp_path, data_dir):
    session = bring_in(people, tmp_path / "home", owner=people.bob)
    page = visit()
    page.goto(f"{live_server.url}/sessions/{session.pk}/")
    page.wait_for_selector("[data-following]")
    session.delete()
    page.wait_for_selector("[data-following]", state="hidden", timeout=20_000)


def test_an_address_that_points_into_a_folded_call_opens_it(visit, live_server, people, tmp_path, data_dir):
    session = bring_in(people, tmp_path / "home", owner=people.bob)
    page = visit()
    page.goto(f"{live_server.url}/sessions/{session.pk}/#seq-3")
    assert page.locator("#seq-3").is_visible()
    assert not page.locator("#seq-4").is_visible()
