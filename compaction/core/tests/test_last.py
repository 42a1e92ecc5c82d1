"""The newest compaction as `inspect` tells it: COMPACTION §18, fixture §20.8."""

from __future__ import annotations

import time

import pytest

from compaction.core.marks import marks
from compaction.core.mode import NATIVE_HEADINGS
from dshweb.sessionlog.tests.core.logs import FIELD

from .feeds import opened, text
from .recorded import events_of

NATIVE = "\n".join(f"## {heading}\n(none)" for heading in NATIVE_HEADINGS)


def session():
    made = opened()
    made.system(text("prompt"))
    made.request()
    made.user(text("x" * 4000))
    made.user(text("y" * 40))
    return made


def attempt(made, turn, error=None, **members):
    made.row("compaction/start", {"compactionId": "c", "turn": turn})
    made.row("compaction/end", {"compactionId": "c", "turn": turn, **({"error": error} if error else {}), **members})


def test_without_an_attempt_there_is_nothing():
    assert session().replay().last_compaction() is None


def test_a_completed_one_is_measured_before_and_after():
    made = session()
    before = made.replay().measure().total
    made.compact(4, 4, [4], NATIVE)
    after = made.replay().measure().total
    made.user(text("later"))
    told = made.replay().last_compaction()
    assert told.to_json() == {
        "id": "c", "trigger": "manual", "status": "completed", "mode": "native", "beforeTokens": before,
        "afterTokens": after, "durationMs": 3000, "cacheReadTokens": None, "cacheWriteTokens": None, "error": None,
    }  # fmt: skip
    assert after < before
    assert made.replay().last_compaction(flush_failed=True).status == "persistence-error"


def test_cache_tokens_come_from_the_summary_where_it_has_them():
    made = session()
    made.compact(4, 4, [4])
    made.rows[-3]["data"]["usage"] = {"inputTokens": 5, "cacheReadTokens": 7}
    told = made.replay().last_compaction()
    assert (told.cache_read_tokens, told.cache_write_tokens, told.mode) == (7, None, None)


def test_the_usage_of_the_summary_call_is_no_usage_of_the_session():
    header, events = events_of(FIELD / "usage" / "compaction-usage.v4.jsonl")
    (found,) = marks(header, events)
    assert (found.compaction.status, found.compaction.duration_ms) == ("completed", 3000)
    assert (found.compaction.cache_read_tokens, found.compaction.cache_write_tokens) == (None, None)  # it states none
    assert (found.prompt_before, found.prompt_after) == (0, 2000)  # not the 48,000 of the summary call
    assert (found.compaction.before_tokens, found.fill) == (None, None)  # its steps never began: no measure, not 0


def test_a_turn_makes_it_automatic():
    made = session()
    attempt(made, 1)
    assert made.replay().last_compaction().trigger == "automatic"


@pytest.mark.parametrize(
    ("error", "turn", "end", "status"),
    [
        ("DeepSeek Messages request aborted", 1, "completed", "cancelled"),
        ("Request was Cancelled by user", 1, "completed", "cancelled"),
        ("cancellation policy missing", 1, "completed", "failed"),
        ("upstream unavailable", None, None, "failed"),
        ("failed: [object Object]", None, None, "cancelled"),
        ("failed: [object Object]", 1, "aborted", "cancelled"),
        ("failed: [object Object]", 1, "completed", "failed"),
    ],
)
def test_an_error_is_a_failure_or_a_cancel(error, turn, end, status):
    made = session()
    attempt(made, turn, error)
    if end:
        made.close()
        made.finish(end)
    told = made.replay().last_compaction()
    assert (told.status, told.error, told.after_tokens) == (status, error, None)


def test_an_open_one_failed_unless_this_process_runs_it():
    made = session()
    made.row("compaction/start", {"compactionId": "c", "turn": None})
    told = made.replay().last_compaction()
    assert (told.status, told.error, told.duration_ms) == ("failed", "no end event", None)
    told = made.replay().last_compaction(running=True)
    assert (told.status, told.error) == ("running", None)
    made.row("session/end-seed")
    assert made.replay().last_compaction(running=True).status == "failed"


def test_an_unmatched_start_locks_the_log_until_a_process_takes_it_over():
    made = session()
    assert not made.replay().locked
    made.row("session/end-seed")
    made.row("compaction/start", {"compactionId": "c", "turn": None})
    assert made.replay().locked
    made.row("session/end-seed")
    assert not made.replay().locked
    made.row("compaction/start", {"compactionId": "d", "turn": None})
    assert made.replay().locked
    made.row("compaction/end", {"compactionId": "d", "turn": None, "error": "e"})
    assert not made.replay().locked


def test_one_that_died_while_committing_says_so():
    made = session()
    made.compact(4, 4, [4])
    made.rows.pop()
    told = made.replay().last_compaction()
    assert (told.status, told.error) == ("failed", "commit did not finish")
    assert told.after_tokens is not None


def test_the_newest_start_counts_and_rows_of_others_do_not():
    made = session()
    made.compact(4, 4, [4])
    made.row("compaction/start", {"compactionId": "d", "turn": None})
    made.row("compaction/end", {"compactionId": "c", "turn": None, "error": "late"})
    told = made.replay().last_compaction()
    assert (told.id, told.status, told.error) == ("d", "failed", "no end event")


def test_a_clock_that_went_back_gives_no_duration():
    made = session()
    attempt(made, None)
    made.rows[-1]["time"] = 1
    assert made.replay().last_compaction().duration_ms is None


def test_without_a_measurement_the_numbers_are_unknown():
    made = session()
    made.user({"type": "text"})
    made.compact(4, 4, [4])
    told = made.replay().last_compaction()
    assert (told.before_tokens, told.after_tokens, told.status) == (None, None, "completed")


def test_a_hostile_error_is_read_in_linear_time():
    made = session()
    attempt(made, None, "cancel" * 200_000)
    began = time.perf_counter()
    assert made.replay().last_compaction().status == "failed"
    assert time.perf_counter() - began < 5
