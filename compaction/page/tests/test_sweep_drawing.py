"""The drawing of a sweep: small and inside its frame whatever the session."""

from __future__ import annotations

import json

import pytest

from compaction.core.sweep import GRID, Row, Trace, sweep
from compaction.core.what_if import Route
from compaction.page.sweep_drawing import DATA_BYTES, drawing


def long(n: int, routes: int = 1, every: int = 50) -> Trace:
    """Up and down through every trigger, on routes that change at every step."""
    kinds = tuple(Route("p" * 40, f"m{each}", 1_000_000, None) for each in range(routes))
    return Trace(
        kinds, tuple(range(10**9, 10**9 + n)), tuple(range(n)), tuple(n * 7919 % 10**6 if n % 11 else None for n in range(n)),
        tuple("measured" if n % 11 else "unavailable" for n in range(n)), tuple(n % routes for n in range(n)),
        tuple(n % every == 0 for n in range(n)),
    )  # fmt: skip


@pytest.mark.parametrize("steps", [long(1), long(2), long(5000), long(5000, 3), long(20_000, 40, 1)], ids=len)
def test_whatever_the_session_the_rows_stay_small_and_the_marks_inside(steps):
    chosen, *rows = sweep(steps, lambda ratio, route: int(ratio * 1_000_000), (0.5, *GRID))
    drawn = drawing(steps, chosen, rows, lambda row: "")
    assert len(drawn.data.encode()) <= DATA_BYTES
    data = json.loads(drawn.data)
    assert len(data["rows"]) == 99
    assert all(place < len(data["places"]) for row in data["rows"] if row for place in row[4])
    for place in drawn.places:
        assert 0 <= float(place.x.rstrip("%")) <= 100
        assert place.y is None or 0 <= float(place.y.rstrip("%")) <= 93
    assert len(drawn.curve) < 12_000
    assert 1 <= len(drawn.ticks) <= 5


def test_a_session_that_was_never_measured_has_a_drawing_without_marks():
    steps = Trace(
        (Route("p", "m", None, None),), (5, 6), (1, 1), (None, None), ("unavailable",) * 2, (0, 0), (True, False)
    )
    row = Row(0.5, (None,), (), 0, 0, 2)
    drawn = drawing(steps, row, [row], lambda _: "why <not>")
    assert (drawn.curve, drawn.line, drawn.trigger, drawn.why) == ("", "", None, "why <not>")
    assert [place.y for place in drawn.really] == [None]
