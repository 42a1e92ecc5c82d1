"""What is said beside the chart: the safe cut in the order of the context, and one warning where two would say the same."""

from __future__ import annotations

import pytest

from compaction.core.budget import Range
from compaction.page.tests.test_chart import chart_of, in_english

__all__ = ["in_english"]


@pytest.mark.parametrize(
    ("start", "end", "words"), [(8, 12, "seq 8 – 12"), (272, 164, "seq 272 (an earlier summary), then up to 164")]
)
def test_a_cut_that_begins_with_an_earlier_summary_is_not_told_as_a_range_that_runs_backwards(start, end, words):
    chart = chart_of({}, 131_072, 16_384, 29_598, 5_544, Range(start, end, 3_033))
    assert chart.cut is not None
    assert chart.cut.words == words


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({}, "the trigger would be reached again at once"),
        ({"headroomTokens": 0, "maxTokens": 65_536}, "no smaller than what it replaces"),
    ],
)
def test_a_summary_of_full_length_is_warned_of_once(document, words):
    chart = chart_of(document, 131_072, 16_384, 29_598, 5_544, Range(8, 12, 3_033))
    assert [words in said for _tone, said in chart.notes] == [True]
