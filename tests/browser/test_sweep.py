"""What-if beside the chart in a real browser: what a dragged ratio draws is what the server would draw for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from compaction.models import Profile
from compaction.services.profiles import default_of
from dshweb.sessionlog.models import Session
from dshweb.sessionlog.services.ingest import Import, ingest_file
from tests.browser import IN_BROWSER

pytestmark = IN_BROWSER

CORPUS = Path(__file__).parents[1] / "data" / "corpus"
SETTINGS = {"thresholdRatio": 0.5, "headroomTokens": 0, "maxTokens": 1000, "retainTokens": 3000}
DRAWN = """() => {
  const look = document.querySelector("[data-look]");
  const attributes = (all) => [...all].map((one) => ["x", "y", "d", "dy", "href"].map((name) => one.getAttribute(name)));
  const shown = [...look.querySelectorAll("[data-out], [data-why], [data-seqs]")].filter((one) => one.checkVisibility());
  return [shown.map((one) => one.textContent.replace(/\\s+/g, " ").trim()),
          attributes(look.querySelectorAll("[data-marks] *, [data-line], [data-label], [data-seqs] a, [data-places] a")),
          [...look.querySelectorAll("[data-places] tr")].map((row) => row.textContent.replace(/\\s+/g, " ").trim())];
}"""


@pytest.fixture
def profile(people, data_dir) -> Profile:
    for name in ("plain-chat-en", "repeated-compaction"):
        ingest_file(
            next((CORPUS / name).rglob("session*.jsonl*")), run=Import.by(people.team, people.alice, inline=True)
        )
    profile = default_of(people.team)
    Profile.unscoped.filter(pk=profile.pk).update(document=SETTINGS, revision=1)
    return profile


@pytest.fixture
def looked(opens, client, people, profile):
    """The page with the what-if in sight; `asked` are the addresses it was asked for."""

    def go(who, session):
        client.force_login(who)
        page = opens()
        page.asked = []
        page.on("request", lambda request: "/what-if" in request.url and page.asked.append(request.url))
        page.open(f"/profiles/{profile.pk}/compaction/?session={session.pk}")
        page.locator("[data-sweep]").scroll_into_view_if_needed()
        expect(page.locator("[data-look]")).to_be_visible()
        page.locator("details[data-table] summary").click()
        return page

    return go


@pytest.fixture
def session(people, profile):
    return Session.unscoped.filter(current__compactions__isnull=False).distinct().get()


def drag(page, ratio: str) -> None:
    page.locator("input[type=range][data-ratio]").evaluate(
        "(slider, ratio) => { slider.value = ratio; slider.dispatchEvent(new Event('input', {bubbles: true})); }", ratio
    )
    expect(page.locator('[data-out="ratio"]')).to_have_text(ratio)


def test_a_dragged_ratio_is_drawn_as_the_server_draws_it_and_asks_nobody(looked, people, session):
    page = looked(people.alice, session)
    for ratio in ("0.03", "0.3", "0.5", "0.72", "0.99"):
        drag(page, ratio)
        mine = page.evaluate(DRAWN)
        html = page.request.get(page.asked[0].replace("thresholdRatio=0.5", f"thresholdRatio={ratio}")).text()
        page.locator("[data-sweep-body]").evaluate(
            "(body, html) => { const kept = [...body.childNodes]; body.innerHTML = html; window.kept = kept; }", html
        )
        page.locator("details[data-table] summary").click()
        assert mine == page.evaluate(DRAWN), ratio
        page.evaluate("document.querySelector('[data-sweep-body]').replaceChildren(...window.kept)")
    assert len(page.asked) == 1
    expect(page.locator("p[role=status]", has_text="0.99: would have fired")).to_have_count(1)
    assert page.complaints == []


def test_answers_for_other_settings_are_waited_for(looked, people, session):
    page = looked(people.alice, session)
    before = page.locator('[data-out="trigger"]').inner_text()
    page.locator("#id_headroomTokens").evaluate("field => field.closest('details')?.setAttribute('open', '')")
    page.locator("#id_headroomTokens").fill("20000")
    expect(page.locator('[data-out="trigger"]')).not_to_have_text(before)
    page.locator("input[name=thresholdRatio]").fill("0.625")
    expect(page.locator('[data-out="ratio"]')).to_have_text("0.625")
    page.locator("input[name=thresholdRatio]").fill("much")
    expect(page.locator("[data-sweep] .sweep-none")).to_contain_text("must be a number")
    drag(page, "0.4")
    assert [url.rpartition("=")[2] for url in page.asked] == ["0.5", "0.5", "0.625", "much", "0.4"]


def test_a_viewer_drags_without_touching_the_field(looked, people, session):
    page = looked(people.vera, session)
    slider = page.locator("input[type=range][data-ratio]")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator('[data-out="ratio"]')).to_have_text("0.51")
    assert page.locator("input[name=thresholdRatio]").input_value() == "0.5"
