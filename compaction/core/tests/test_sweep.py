"""A sweep of ratios against the rule it must agree with: each ratio by itself, step after step."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.core.sweep import GRID, Row, Trace, sweep, thinned, trace
from compaction.core.what_if import Pressure, Route, what_if

from .recorded import LOGS, events_of

A, B = Route("p", "a", 1000, 10), Route("p", "b", 500, None)
IDS = [f"{scenario}-{n}" for n, (scenario, _) in enumerate(LOGS)]


def made(rows: list[tuple[int | None, int, bool]]) -> Trace:
    """Steps of (total, route, fired) on the routes A and B."""
    total, route, fired = zip(*rows, strict=True) if rows else ((), (), ())
    kinds = tuple("unavailable" if one is None else "measured" for one in total)
    return Trace((A, B), tuple(range(100, 100 + len(rows))), (None,) * len(rows), total, kinds, route, fired)


def one_by_one(steps: Trace, ratio: float, limits) -> Row:
    """What-if as `trying.try_settings` counts it, spelled out once more."""
    crossings, over, unknown, crossed = [], 0, 0, False
    thresholds = tuple(limits(ratio, route) for route in steps.routes)
    for n, (total, route) in enumerate(zip(steps.total, steps.route, strict=True)):
        limit = thresholds[route]
        is_over = None if limit is None or total is None else total >= limit
        over += bool(is_over)
        unknown += is_over is None
        if is_over and not crossed:
            crossings.append(n)
        crossed = bool(is_over) and not steps.fired[n]
    return Row(ratio, thresholds, tuple(crossings), len(crossings), over, unknown)


def simple(ratio: float, route: Route) -> int | None:
    """Triggers that rise with the ratio, with none for the lowest ratios of B."""
    if route is B and ratio < 0.2:
        return None
    return math.floor(min((route.window or 200_000) * ratio, (route.window or 200_000) - 100))


@pytest.mark.parametrize(("scenario", "path"), LOGS, ids=IDS)
def test_every_ratio_on_every_recorded_log_is_as_by_itself(scenario, path):
    header, events = events_of(path)
    steps = trace(what_if(header, events, lambda _: None))
    highest = max((total for total in steps.total if total), default=1000)

    def limits(ratio: float, _: Route) -> int:
        return math.floor(highest * 1.05 * ratio)  # so that the ratios meet the steps of these short sessions

    rows = sweep(steps, limits)
    assert rows == [one_by_one(steps, ratio, limits) for ratio in GRID]
    for row in rows[49::40]:
        points = what_if(header, events, lambda route, ratio=row.ratio: Pressure(limits(ratio, route), 0))
        assert [point.over for point in points].count(True) == row.over
        assert [point.total for point in points] == list(steps.total)
    assert sum(steps.fired) == 0 or rows[0].over > 0


ROWS = st.lists(st.tuples(st.none() | st.integers(0, 1100), st.integers(0, 1), st.booleans()), max_size=60)


@given(ROWS, st.lists(st.sampled_from(GRID), max_size=8))
def test_whatever_the_steps_and_ratios(rows, grid):
    steps = made(rows)
    assert sweep(steps, simple, grid) == [one_by_one(steps, ratio, simple) for ratio in grid]


@given(ROWS, st.dictionaries(st.tuples(st.sampled_from(GRID[:5]), st.sampled_from([A, B])), st.integers(0, 1100)))
def test_triggers_that_do_not_rise_with_the_ratio(rows, table):
    def limits(ratio: float, route: Route) -> int | None:
        return table.get((ratio, route))

    steps = made(rows)
    assert sweep(steps, limits, GRID[:5]) == [one_by_one(steps, ratio, limits) for ratio in GRID[:5]]


def test_a_list_may_be_short_while_its_count_is_of_all():
    steps = made([(900, 0, False), (1, 0, False)] * 50)
    row = sweep(steps, simple, (0.5,), most=3)[0]
    assert (row.crossings, row.count, row.over) == ((0, 2, 4), 50, 50)


def test_a_session_without_steps():
    steps = trace([])
    assert (len(steps), thinned(steps)) == (0, [])
    assert {(row.thresholds, row.count, row.unknown) for row in sweep(steps, simple)} == {((), 0, 0)}


@given(ROWS, st.integers(12, 40))
def test_a_thinned_curve_keeps_its_highest_its_lowest_and_what_fired(rows, most):
    steps = made(rows)
    kept = thinned(steps, most)
    assert len(kept) <= most
    assert kept == sorted(set(kept))
    known = [total for total in steps.total if total is not None]
    if known:
        shown = [steps.total[n] for n in kept if steps.total[n] is not None]
        assert (max(shown), min(shown)) == (max(known), min(known))
    fired = {n for n, yes in enumerate(steps.fired) if yes}
    if 2 * len(fired) <= most:
        assert fired <= set(kept)


def test_a_long_session_is_swept_in_a_moment():
    """60 000 steps, as many as a log of 32 MiB can hold, up and down through every trigger."""
    steps = made([(n * 7919 % 1000, n % 2, n % 500 == 0) for n in range(60_000)])
    rows = sweep(steps, simple, most=60)
    assert rows[49].over == one_by_one(steps, 0.5, simple).over
    assert len(thinned(steps)) <= 600
