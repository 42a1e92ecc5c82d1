"""Marks on recorded and made-up sessions: fill, oscillation, no effect (field reports 022, 023, 025, 031, 032)."""

from __future__ import annotations

import pytest

from compaction.core.marks import marks
from dshweb.sessionlog.tests.core.logs import FIELD

from .feeds import opened, text
from .recorded import LOGS, events_of


def of(name):
    (path,) = [path for scenario, path in LOGS if scenario == name]
    return marks(*events_of(path))


def test_fill_is_that_of_the_moment_with_what_it_rests_on():
    (found,) = of("pressure-compaction")
    assert found.fill == 17621 / 21000
    assert (found.measurement, found.after_measurement, found.saved) == ("measured", "measured", 17621 - 11746)
    assert (found.route.window, found.route.max_tokens, found.turn) == (21000, 2000, 1)
    assert (found.soon, found.no_effect) == (None, False)
    assert found.prompt_before < 16800 < 17621  # the last real request came before the large result
    assert found.prompt_after < 12000


def test_failed_ones_are_listed_and_a_later_success_does_not_hide_them():
    found = of("failed-compaction-auto")
    assert [m.compaction.status for m in found] == ["failed", "failed", "completed"]
    assert [m.answers_since for m in found] == [None, None, None]
    assert [m.saved is None for m in found] == [True, True, False]


def test_compactions_far_apart_are_not_marked_and_those_close_are():
    assert [m.soon for m in of("repeated-compaction")] == [None, False, False, True]
    assert [m.answers_since for m in of("repeated-compaction")] == [None, 6, 6, 1]


def test_a_spiral_is_marked_and_its_unknown_numbers_stay_unknown():
    found = marks(*events_of(FIELD / "compaction" / "spiral-12.v4.jsonl"))
    assert len(found) == 12
    assert [m.soon for m in found] == [None, *[True] * 11]
    assert {(m.fill, m.saved, m.compaction.before_tokens) for m in found} == {(None, None, None)}


@pytest.mark.parametrize(("after", "marked"), [(790_000, True), (761_000, True), (759_999, False), (None, None)])
def test_a_next_request_as_large_as_before_has_no_effect(after, marked):
    session = opened()
    session.request()
    session.row("request/context", {"contextWindow": 1_000_000})
    session.user(text("x" * 4000))
    session.answer(text("a"), usage={"inputTokens": 700_000, "cacheReadTokens": 100_000, "outputTokens": 9})
    session.close()
    session.compact(4, 4, [4], turn=1)
    session.open()
    session.answer(text("b"), **({"usage": {"inputTokens": after, "outputTokens": 1}} if after else {}))
    (found,) = marks(None, session.events())
    assert found.no_effect is marked
    assert found.fill == pytest.approx(0.8, abs=0.001)


def test_unlike_numbers_are_not_subtracted():
    session = opened()
    session.user(text("x" * 4000))
    session.compact(2, 2, [2])
    session.rows[-2]["data"]["content"].append({"type": "text"})
    (found,) = marks(None, session.events())
    assert (found.measurement, found.after_measurement, found.saved) == ("estimated", "unavailable", None)
