"""The compaction page in a real browser: keys, marks and columns that move together, windows that come when they are wanted."""

from __future__ import annotations

import pytest

from audit.core.marks import fact_key
from audit.models import Signal
from audit.selectors_facts import WINDOW
from dshweb.sessionlog.models import Compaction
from tests.browser import IN_BROWSER

pytestmark = IN_BROWSER

INVENTED = "/srv/demo-app/deploy/rollout.yaml"


@pytest.fixture
def opened(visit, live_server, people):
    def go(query="", **options):
        page = visit(**options)
        row = Compaction.unscoped.get(compaction_id="e345e984-9")
        page.goto(f"{live_server.url}/compactions/{row.pk}/{query}")
        if options.get("scripts", True):
            page.locator(".tri[data-live]").wait_for()
        return page

    return go


def current(page) -> str:
    return page.locator('.signal[aria-current="true"] .signal-t').inner_text()


IN_VIEW = """([pane, text]) => {
    return [...document.querySelectorAll(pane + " [data-on]")].some((one) => {
        const box = one.closest("[data-scroll]").getBoundingClientRect();
        const at = one.getBoundingClientRect();
        return one.textContent.includes(text) && at.top >= box.top - 1 && at.bottom <= box.bottom + 1;
    });
}"""


def seen(page, pane: str, text: str) -> None:
    """Waits until a selected mark with this text is in view in that column."""
    page.wait_for_function(IN_VIEW, arg=[pane, text], timeout=5000)


def press(page, keys: str) -> None:
    for key in keys.split():
        page.keyboard.press(key)
    page.wait_for_function("() => document.querySelector('.tri [data-on]') !== null")


def test_keys_move_through_the_signals_and_both_columns_follow(opened):
    page = opened()
    first = current(page)
    press(page, "j")
    second = current(page)
    assert second != first
    press(page, "k")
    assert current(page) == first
    for _ in range(12):
        if current(page) == INVENTED:
            break
        press(page, "j")
    seen(page, "#summary", INVENTED)
    seen(page, "#originals", INVENTED)
    assert f"fact={fact_key('abs_path', INVENTED)}" in page.url
    assert page.complaints == []


def test_a_mark_that_is_clicked_selects_its_fact_on_both_sides(opened):
    page = opened()
    page.locator("#summary .fact", has_text="46 MiB").click()
    assert current(page).startswith("46 MiB")
    page.locator("#originals [data-on]", has_text="64 MiB").first.wait_for()
    seen(page, "#originals", "64 MiB")
    page.locator("#originals .fact.f-kept").first.click()
    card = page.locator(".fact-card")
    card.wait_for()
    assert "kept" in card.inner_text()
    assert page.locator('.signal[aria-current="true"]').count() == 0
    assert page.complaints == []


def test_brackets_go_from_mark_to_mark_and_digits_filter(opened):
    page = opened()
    press(page, "]")
    one = page.url
    press(page, "]")
    page.wait_for_url(lambda url: url != one)
    press(page, "[")
    page.wait_for_url(one)
    before = page.locator(".signal:visible").count()
    press(page, "1")
    chip = page.locator('.chip[aria-current="true"]')
    kind = chip.get_attribute("data-kind")
    assert {row.get_attribute("data-kind") for row in page.locator(".signal:visible").all()} == {kind}
    assert current(page)
    press(page, "1")
    assert page.locator(".signal:visible").count() == before
    page.keyboard.press("f")
    assert page.evaluate("document.activeElement.name") == "cls"
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.name") == "cls", "keys in a field are the field's"


def test_help_opens_and_closes_by_key(opened):
    page = opened()
    page.keyboard.press("?")
    assert page.locator("dialog.help").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("dialog.help").is_visible()


def test_an_address_opens_with_its_fact_selected_and_in_view(opened):
    page = opened(f"?fact={fact_key('abs_path', INVENTED)}")
    assert current(page) == INVENTED
    page.wait_for_function("() => document.querySelector('.tri').getBoundingClientRect().top < innerHeight / 3")
    seen(page, "#summary", INVENTED)


def test_windows_are_loaded_when_they_are_reached_or_needed(visit, live_server, people):
    from audit.tests.compaction_page import MANY, compaction
    from dshweb.ui.tests.rows import TURN

    row = compaction(people, [*MANY, *TURN], position=77)
    page = visit()
    page.goto(f"{live_server.url}/compactions/{row.pk}/?at=8")
    leaves = page.locator(".leaf")
    assert leaves.count() == WINDOW
    page.locator("[data-originals]").evaluate("(pane) => pane.scrollTo(0, pane.scrollHeight)")
    page.locator(f"#leaf-{8 + WINDOW}").wait_for(state="attached")
    wanted = Signal.unscoped.get(audit__compaction=row, text="never force-push to main")
    page.locator(f"#signal-{wanted.rank} .signal-a").click()
    page.locator("#originals .said[data-on]").wait_for()
    seen(page, "#originals", "never force-push")
    assert page.complaints == []


def test_without_scripts_everything_is_read_and_reached(opened):
    page = opened(scripts=False)
    assert page.locator(".leaf").count() == 8
    assert page.locator(".pane-summary .fact.f-altered").is_visible()
    page.locator(".signal-a", has_text="never force-push to main").first.click()
    assert "fact=" in page.url
    assert "never force-push" in current(page)
    page.locator(".chip", has_text="no matching source").click()
    assert {row.get_attribute("data-kind") for row in page.locator(".signal").all()} == {"unverified"}
    assert page.locator("kbd").first.is_hidden()


def test_ten_signals_are_reviewed_by_keyboard_alone(visit, live_server, people, client):
    from audit.models import Review

    page = visit()
    client.force_login(people.alice)
    page.context.add_cookies(
        [{"name": "dshweb_session", "value": client.cookies["dshweb_session"].value, "url": live_server.url}]
    )
    row = Compaction.unscoped.get(compaction_id="e345e984-9")
    page.goto(f"{live_server.url}/compactions/{row.pk}/")
    page.locator(".tri[data-live]").wait_for()
    assert Signal.unscoped.filter(audit__compaction=row).count() >= 10
    for n in range(1, 11):
        here = page.locator('.signal[aria-current="true"]').get_attribute("id")
        page.keyboard.press("c" if n % 2 else "d")
        page.wait_for_function("(n) => document.querySelector('[data-reviewed]').dataset.reviewed === String(n)", arg=n)
        page.wait_for_function("(id) => document.querySelector('.signal[aria-current=\"true\"]').id !== id", arg=here)
    assert Review.unscoped.filter(compaction=row).count() == 10
    assert page.complaints == []
    page.reload()
    assert page.locator("[data-reviewed]").inner_text().startswith("10 of")


def test_no_key_gives_a_verdict_on_a_signal_that_is_filtered_away(opened, client, people, live_server):
    page = opened()
    client.force_login(people.alice)
    page.context.add_cookies(
        [{"name": "dshweb_session", "value": client.cookies["dshweb_session"].value, "url": live_server.url}]
    )
    page.reload()
    page.locator(".tri[data-live]").wait_for()
    rows = page.locator(".signal").all()
    met = {(row.get_attribute("data-kind"), row.get_attribute("data-class")) for row in rows}
    kind, cls = next((k, c) for k, _ in sorted(met) for _, c in sorted(met) if (k, c) not in met)
    page.locator(f'.chip[data-kind="{kind}"]').click()
    page.locator("[data-classes]").select_option(cls)
    page.locator("[data-none]").wait_for()
    assert page.locator(".signal:visible").count() == 0
    sent = []
    page.on("request", lambda request: sent.append(request.method))
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("c")
    page.evaluate("new Promise(requestAnimationFrame)")
    assert "POST" not in sent
    page.locator("[data-classes]").select_option("")
    page.evaluate("document.activeElement.blur()")
    with page.expect_response("**/review"):
        page.keyboard.press("c")


def test_what_needs_looking_at_most_is_two_keys_from_the_list(visit, live_server, people):
    """Done when 1 of issue 3: the path without a source, in under five key presses from the sessions list."""
    from pathlib import Path

    from audit.services.run import audit_log
    from dshweb.sessionlog.models import LogFile, Session
    from dshweb.sessionlog.services.ingest import Import, ingest_path
    from dshweb.sessionlog.services.report import Totals

    demo = Path(__file__).parents[2] / "demo"
    Session.unscoped.all().delete()
    ingest_path(demo, run=Import.by(people.team, people.alice, inline=True), totals=Totals())
    for log in LogFile.unscoped.all():
        audit_log(log)
    page = visit()
    page.goto(f"{live_server.url}/sessions/")
    page.keyboard.press("o")
    page.locator(".tri[data-live]").wait_for()
    pressed = 1
    while current(page) != "/srv/demo-app/config/gateway.yaml":
        pressed += 1
        assert pressed < 5
        press(page, "j")
    seen(page, "#summary", "/srv/demo-app/config/gateway.yaml")
    assert page.complaints == []


def test_what_is_left_out_of_a_long_text_comes_in_its_place(visit, live_server, people):
    from audit.tests.compaction_page import compaction
    from dshweb.ui.tests.rows import TURN

    lines = [f"{n}: nothing of note in this line" for n in range(1500)]
    row = compaction(people, [*TURN, ("assistant/message", "", False, "\n".join(lines))], position=78)
    page = visit()
    page.goto(f"{live_server.url}/compactions/{row.pk}/?at=16")
    leaf = page.locator("#leaf-16")
    assert "1400: nothing" not in leaf.inner_text()
    while leaf.locator(".hole").count():
        before = len(leaf.inner_text())
        leaf.locator(".hole").first.click()
        page.wait_for_function("(n) => document.querySelector('#leaf-16').innerText.length > n + 1000", arg=before)
    assert leaf.inner_text().count("nothing of note") == 1500
    assert page.complaints == []
