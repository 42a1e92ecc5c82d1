"""The budget chart: its geometry whatever the numbers, its table, and what it says where there is nothing to draw."""

from __future__ import annotations

import itertools

import pytest
from django.template.loader import render_to_string
from django.utils import translation
from hypothesis import given, settings
from hypothesis import strategies as st

from compaction.core.budget import Meter, Range, budget, preview
from compaction.core.estimate import FRAMING
from compaction.core.formula import Reserve, spec
from compaction.core.measure import Measure
from compaction.core.policy import resolve
from compaction.core.session_facts import SessionFacts
from compaction.core.what_if import Route
from compaction.page.chart import Chart, drawn
from compaction.page.chart_layout import partition
from compaction.page.chart_rows import Figures, share
from compaction.page.words import NO_CUT

MOST = 2**53
GAP = "\u202f"
counts = st.integers(0, MOST)
maybe = st.none() | counts


@pytest.fixture(autouse=True)
def in_english():
    with translation.override("en"):
        yield


def facts_of(total: int | None = 1, window: int | None = None, asked: int | None = None) -> SessionFacts:
    measure = Measure("usage", total, 0, total, total, 0)
    return SessionFacts(9, measure, 1, Route("p", "m", window, asked), 3, None, False, None)


def chart_of(
    document: dict[str, object], window: int | None, reserve: int | None, now: int, fixed: int | None,
    cut: Range | None = None, *, kind: str = "usage", held: dict[str, object] | None = None,
) -> Chart:  # fmt: skip
    policy = resolve(document).policy
    at = spec(policy, window, Reserve(reserve, "adapter" if reserve is not None else "unknown"))
    meter = Meter(kind, now, fixed)
    bodies = budget(meter, policy, at, window).body(), preview(meter, policy, at, cut).body()
    return drawn(*bodies, at, policy, facts_of(now, window), held)


def stock(now: int = 604_208, **more: object) -> Chart:
    return chart_of({}, 1_000_000, 256_000, now, 38_912, Range(8, 4_212, 420_000), **more)


def named(chart: Chart) -> dict[str, int | None]:
    return {row.kind: row.tokens for row in (*chart.rows, *chart.lines)}


# ---- geometry


@st.composite
def figures(draw: st.DrawFn) -> Figures:
    window = draw(st.none() | st.integers(1, MOST))
    trigger = draw(st.none() | st.integers(1, window)) if window else None
    return Figures(
        draw(counts), window, draw(maybe), trigger, draw(counts) if trigger else None, draw(st.integers(1, MOST)),
        draw(st.none() | st.integers(1, MOST)), None, draw(maybe) if trigger else None,
    )  # fmt: skip


@given(figures())
@settings(max_examples=300, deadline=None)
def test_bars_are_whole_whatever_the_numbers(at):
    assert sum(n for _, n in at.used()) == at.now
    assert all(n >= 0 for _, n in (*at.used(), *at.unused(), *at.afterwards()))
    for parts in ([*at.used(), *at.unused()], at.afterwards()):
        bar = partition([(kind, n, "") for kind, n in parts], at.whole)
        assert all(one.width >= 0 and 0 <= one.x <= 100 for one in bar)
        for left, right in itertools.pairwise(bar):
            assert left.x + left.width == pytest.approx(right.x, abs=1e-9)
    bar = partition([(kind, n, "") for kind, n in (*at.used(), *at.unused())], at.whole)
    reach = max(at.window or 0, at.now)
    assert sum(one.width for one in bar) == pytest.approx(100 * reach / at.whole, abs=1e-3)
    if at.after is not None:
        assert sum(n for _, n in at.afterwards()) == at.after


@given(
    document=st.fixed_dictionaries({}, optional={
        "thresholdRatio": st.floats(0.2, 1), "headroomTokens": st.integers(1, MOST), "maxTokens": st.integers(1, MOST),
        "retainTokens": counts,
    }),
    window=st.none() | st.integers(1, MOST), reserve=maybe, now=counts, fixed=maybe, taken=maybe,
    kind=st.sampled_from(["usage", "estimated", "none"]), held=maybe,
)  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_a_chart_is_made_and_rendered_of_any_numbers(document, window, reserve, now, fixed, taken, kind, held):
    cut = None if taken is None else Range(1, 2, min(taken, now))
    chart = chart_of(document, window, reserve, now, fixed, cut, kind=kind, held={"thresholdTokens": held})
    assert chart.drawn
    reach = max(window or 0, now, 1)
    whole = max(reach, chart_after(chart))
    if now or window:
        assert sum(one.width for one in chart.segments) == pytest.approx(100 * reach / whole, abs=1e-3)
    assert all(0 <= mark.x <= 100 for mark in chart.marks)
    assert sorted(mark.lane for mark in chart.marks) == list(range(len(chart.marks)))
    assert all(span.x <= span.end <= 100 for span in chart.spans)
    assert [row.kind for row in chart.rows if row.kind in ZONES] == ZONES
    page = render(chart)
    assert "style=" not in page
    assert "nan" not in page
    assert 'width="-' not in page
    assert "<title" in page
    assert "<desc" in page


ZONES = ["fixed", "older", "tail", "free", "after"]


def chart_after(chart: Chart) -> int:
    return next((row.tokens or 0 for row in chart.lines if row.kind == "bound"), 0)


# ---- numbers


def test_the_stock_model_is_told_zone_by_zone():
    chart = stock()
    assert {kind: named(chart)[kind] for kind in ZONES} == {
        "fixed": 38_912, "older": 446_256, "tail": 119_040, "free": 74_256, "after": 321_536,
    }  # fmt: skip
    assert sum(named(chart)[kind] for kind in ZONES) == 1_000_000
    assert [row.share for row in chart.rows] == [f"{n}{GAP}%" for n in ("3.9", "44.6", "11.9", "7.4", "32.2")]
    assert (chart.window.tokens, chart.window.share) == (1_000_000, f"100.0{GAP}%")
    assert {mark.kind: mark.tokens for mark in chart.marks} == {"trigger": 678_464, "ratio": 800_000}
    assert chart.now.tokens == 604_208
    assert not chart.notes


def test_the_bound_of_the_second_bar_is_taken_apart():
    chart = stock()
    after = 604_208 - 420_000 + FRAMING + 65_536
    assert {row.kind: row.tokens for row in chart.after_rows} == {
        "fixed": 38_912, "summary": FRAMING + 65_536, "kept": after - 38_912 - FRAMING - 65_536,
    }  # fmt: skip
    assert "at most" in chart.after_words
    assert "upper bound" in chart.after_words
    assert (chart.cut.start, chart.cut.end, chart.cut.tokens) == (8, 4_212, 420_000)


def test_the_ratio_line_and_the_engines_trigger_only_where_they_differ():
    chart = chart_of({"thresholdRatio": 0.5}, 1_000_000, 256_000, 9, 1, held={"thresholdTokens": 678_464})
    assert {mark.kind for mark in chart.marks} == {"trigger", "held"}
    assert named(chart)["held"] == 678_464
    assert "held" not in named(stock(held={"thresholdTokens": 678_464}))


def test_what_is_small_in_the_window_is_drawn_once_more_enlarged():
    chart = chart_of({"retainTokens": 2_000}, 1_000_000, 256_000, 11_993, 5_568)
    assert [(one.kind, one.tokens) for one in chart.zoom] == [("fixed", 5_568), ("older", 4_425), ("tail", 2_000)]
    assert sum(one.width for one in chart.zoom) == pytest.approx(100)
    assert chart.spans[-1].end == 100
    assert f"enlarged: 11{GAP}993 tokens" in render(chart)
    assert not stock().zoom
    assert "enlarged" not in render(stock())


def test_both_kinds_of_retention_are_shown():
    chart = stock()
    assert [(span.kind, span.tokens, span.open) for span in chart.spans] == [
        ("automatic", 446_256, False), ("manual", 565_296, True),
    ]  # fmt: skip
    assert chart.retain == 119_040
    page = render(chart)
    assert "a budget, not a pin" in page
    assert "More aggressive" in page
    assert "/compact and overflow" in page


def test_in_use_beyond_the_trigger_and_beyond_the_window():
    chart = stock(700_000)
    assert named(chart)["free"] == 0
    assert named(chart)["after"] == 321_536
    assert next(row for row in chart.rows if row.kind == "after").note.endswith(
        f"21{GAP}536 tokens of it are in use already"
    )
    assert chart.notes[0][0] == "amber"
    chart = stock(1_200_000)
    assert named(chart)["over"] == 200_000
    assert {"window"} <= {mark.kind for mark in chart.marks}
    assert chart.over is not None
    assert chart.notes[0] == ("red", "More is in use than the window holds.")


def test_a_prefix_priced_above_the_measure_is_told_as_it_is():
    chart = chart_of({}, 1_000_000, 0, 100, 900)
    assert (named(chart)["fixed"], named(chart)["older"], named(chart)["tail"]) == (900, 0, 0)
    assert [one.tokens for one in chart.segments if one.kind == "fixed"] == [100]
    assert "more than is in use" in chart.rows[0].note


def test_a_tail_larger_than_the_history_names_its_budget():
    chart = chart_of({}, 1_000_000, 256_000, 50_000, 10_000)
    assert (named(chart)["older"], named(chart)["tail"]) == (0, 40_000)
    assert f"119{GAP}040" in chart.rows[2].note
    assert [span.kind for span in chart.spans] == ["manual"]
    assert chart.cut.why == "Everything after the fixed prefix fits into the retained tail."


def test_without_a_window_there_are_no_shares_and_no_zero():
    chart = chart_of({}, None, 4_096, 31_000, 900)
    assert [row.share for row in (*chart.rows, chart.window)] == [None] * 7
    assert (named(chart)["free"], named(chart)["after"], chart.window.tokens) == (None, None, None)
    assert "window is unknown" in chart.notes[0][1]
    assert chart.cut.words == str(NO_CUT)
    assert chart.cut.why == "The context window of the model is unknown."
    assert 'aria-label="unknown"' in render(chart)


def test_without_a_trigger_nothing_is_split_by_it():
    chart = chart_of({}, 65_536, 8_000, 31_000, 900)
    assert (named(chart)["history"], named(chart)["rest"], named(chart)["trigger"]) == (30_100, 34_536, None)
    assert not chart.marks
    assert not chart.spans
    assert chart.zone is None
    assert "No usable trigger" in chart.formula.why
    assert "No usable trigger" in chart.cut.why


def test_an_unknown_prefix_is_not_taken_for_none():
    chart = chart_of({}, 1_000_000, 256_000, 604_208, None, Range(8, 9, 5))
    assert (named(chart)["fixed"], named(chart)["older"], named(chart)["unsplit"]) == (None, None, 485_168)
    assert [row.kind for row in chart.after_rows] == ["summary", "kept"]


def test_no_safe_cut_is_said_in_those_words():
    chart = chart_of({}, 1_000_000, 256_000, 604_208, 9)
    assert chart.cut.words == "No computable safe cut"
    assert "tool call" in chart.cut.why
    assert "No computable safe cut" in render(chart)


def test_measured_and_estimated_are_told_apart():
    assert "provider counted" in stock().measured
    assert not stock().estimated
    assert stock(kind="none").estimated
    assert "heuristic" in stock(kind="estimated").measured


def test_shares_are_never_rounded_to_nothing():
    assert share(1, 1_000_000) == f"< 0.1{GAP}%"
    assert (share(0, 10), share(None, 10), share(3, None)) == (f"0.0{GAP}%", None, None)
    assert share(MOST, 1) == f"{MOST * 100:,}.0{GAP}%".replace(",", GAP)


# ---- nothing to draw


def test_without_a_session_it_says_how_to_pick_one():
    chart = drawn(None, None, None, resolve({}).policy, None)
    assert not chart.drawn
    assert "Choose one" in chart.hint
    assert '<svg class="bud-svg' not in render(chart)


def test_another_engine_gets_a_sentence_and_no_chart():
    chart = drawn(None, None, None, resolve({}).policy, None, engine={"inspectApplies": False})
    assert not chart.drawn
    assert chart.sentence.startswith("Another compaction engine")
    assert chart.formula is None
    assert "bud-t" not in render(chart)
    assert "Another" in drawn(None, None, None, None, facts_of(), engine={"inspectApplies": False}).sentence


def test_settings_that_do_not_resolve_and_a_session_that_was_not_measured():
    chart = drawn(None, None, None, None, facts_of(), engine={"inspectApplies": True})
    assert "nothing can be worked out" in chart.sentence
    assert chart.formula is None
    policy = resolve({}).policy
    at = spec(policy, None, Reserve(0, "request"))
    bodies = budget(None, policy, at, None).body(), preview(None, policy, at, None, failed="7: x").body()
    chart = drawn(*bodies, at, policy, facts_of(None))
    assert not chart.drawn
    assert chart.hint == "7: x"


def render(chart: Chart) -> str:
    return render_to_string("compaction/_budget.html", {"chart": chart})
