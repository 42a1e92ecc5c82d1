"""The axis and the marks of the budget chart: numbers keep apart, and words stand where there is room."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from compaction.page.chart_layout import brief, lanes, ticks
from compaction.page.tests.test_chart import GAP, MOST, chart_of, in_english, named

__all__ = ["in_english"]


@given(st.integers(1, MOST))
@settings(max_examples=300, deadline=None)
def test_the_axis_has_few_numbers_that_keep_apart(whole):
    made = ticks(whole, "0 tokens")
    assert made[0].label == "0 tokens"
    assert made[-1].x == 100
    assert len(made) <= 7
    assert all(right.x - left.x >= 12 for left, right in itertools.pairwise(made))
    coarse = [one.x for one in made if not one.fine]
    assert len(coarse) <= 3
    assert all(35 <= x <= 60 for x in coarse[1:-1])


def test_words_of_marks_stand_on_the_side_with_more_room():
    low, high = sorted(lanes([("a", 10, "a"), ("b", 95, "b")], 100), key=lambda mark: mark.x)
    assert (low.anchor, high.anchor) == ("start", "end")
    assert (low.lane, high.lane) == (0, 1)  # the nearer to the middle, the lower


def test_long_numbers_are_shortened_in_the_drawing_only():
    assert brief(99_999_999) == f"99{GAP}999{GAP}999"
    assert brief(100_000_000) == f"100.0{GAP}M"
    assert brief(MOST) == f"9{GAP}007.1{GAP}T"
    chart = chart_of({}, MOST, 0, 5, 1)
    assert named(chart)["after"] is not None
    assert chart.window.share == f"100.0{GAP}%"
