"""Brackets of compactions, whole and broken."""

from __future__ import annotations

import json

import pytest

from dshweb.sessionlog.core.scan import Scan

from .logs import assistant, compaction, log_bytes, read, row, user


def attempts(*rows):
    return read(log_bytes(rows)).scan.attempts


def start(seq, name="c", **data):
    return row(seq, "compaction/start", {"compactionId": name, **data})


def end(seq, name="c", **data):
    return row(seq, "compaction/end", {"compactionId": name, **data})


def test_rows_between_the_rows_of_a_bracket_do_not_matter():
    rows = compaction(2, "c", [0, 1])
    noise = [row(9, "session-log-deepseek/delivery-accepted")]
    (a,) = attempts(user(0, "a"), user(1, "b"), rows[0], *noise, rows[1], *noise, rows[2], *noise, rows[3])
    assert (a.start_seq, a.summary_seq, a.checkpoint_seq, a.end_seq, a.outcome) == (2, 3, 4, 5, "completed")


def test_an_end_seed_kills_an_open_attempt():
    (a, b) = attempts(
        start(0, turn=None), row(1, "session/end-seed"), start(2, "d", turn=3), end(3, "d", turn=3, error="x")
    )
    assert (a.outcome, a.dead, a.trigger) == ("unmatched", True, "manual")
    assert (b.outcome, b.trigger) == ("failed", "pressure")


def test_a_start_after_an_open_start_leaves_the_first_unmatched():
    assert [a.outcome for a in attempts(start(0, "c"), start(1, "d"), end(2, "d", error="no"))] == [
        "unmatched",
        "failed",
    ]


def test_rows_without_a_start_are_attempts_of_their_own():
    rows = compaction(2, "c", [0, 1])
    (a,) = attempts(user(0, "a"), user(1, "b"), *rows[1:])
    assert (a.start_seq, a.summary_seq, a.outcome, a.trigger, a.row) == (None, 3, "completed", "unknown", 2)
    (lone,) = attempts(end(0, error="x"))
    assert (lone.start_seq, lone.outcome) == (None, "failed")
    assert attempts(user(0, "x", {"kind": "compact-checkpoint", "compactionId": "c"})) == []


def test_an_end_without_summary_and_error_has_failed():
    assert attempts(start(0), end(1))[0].outcome == "failed"


def test_a_summary_whose_log_ends_there_is_completed_only_with_its_checkpoint():
    rows = compaction(2, "c", [0, 1])
    head = [user(0, "a"), user(1, "b")]
    assert attempts(*head, *rows[:2])[0].outcome == "unmatched"
    assert attempts(*head, *rows[:3])[0].outcome == "completed"


def test_a_summary_that_shadows_other_nodes_than_its_range_is_noticed():
    rows = compaction(3, "c", [0, 2])
    (a,) = attempts(user(0, "a"), user(1, "b"), user(2, "c"), *rows)
    assert a.span_ok is False


def test_overflow_needs_the_attempt_right_before():
    failure = {"stream": [{"type": "chunk", "chunk": {"type": "finish", "reason": {
        "kind": "error", "failure": {"code": "CONTEXT_WINDOW_EXCEEDED"}}}}]}  # fmt: skip
    tried = row(0, "assistant/attempt", failure)
    assert attempts(tried, start(1, turn=4))[0].trigger == "overflow"
    assert attempts(tried, assistant(1, []), start(2, turn=4))[0].trigger == "pressure"
    quoted = row(0, "assistant/attempt", {"stream": [{"text": "CONTEXT_WINDOW_EXCEEDED"}]})
    assert attempts(quoted, start(1, turn=4))[0].trigger == "pressure"


def test_an_open_attempt_survives_the_state():
    rows = compaction(2, "c", [0, 1])
    first = read(log_bytes([user(0, "a"), user(1, "b"), *rows[:2]]))
    scan = Scan.from_state(json.loads(json.dumps(first.scan.to_state())))
    assert scan.attempts == first.scan.attempts
    for event in read(log_bytes(rows[2:])).events:
        scan.feed(event)
    assert [(a.outcome, a.shadowed_seqs, a.end_seq) for a in scan.attempts] == [("completed", (0, 1), 5)]
    assert scan.compaction_totals == {"completed": 1}


def test_the_state_and_prompt_in_force_are_named_by_seq():
    rows = [
        row(0, "system/message", {"message": {"content": [], "source": {"kind": "system-prompt"}}}, surfaceOp="append"),
        row(1, "turn/start", {"turn": 1}),
        row(2, "goal/change", {"operation": "create", "goal": {"id": "g"}}),
        row(3, "todo/write", {"todos": []}),
        row(4, "tool/call", {"callId": "q", "name": "ask_user_question"}),
        row(5, "job/registered", {"jobId": "j1"}), row(6, "job/registered", {"jobId": "j2"}),
        row(7, "job/settled", {"jobId": "j1"}), user(8, "x"), *compaction(9, "c", [8]),
    ]  # fmt: skip
    (a,) = attempts(*rows)
    assert (a.state_seqs, a.system_seqs) == ((2, 3, 4, 6), (0,))


@pytest.mark.parametrize("per_frame", [1, 20])
@pytest.mark.parametrize(("at", "before"), [("before", True), ("behind", False)])
def test_only_rows_lost_before_a_summary_are_damage_before_it(per_frame, at, before):
    """Also when the whole bracket and the broken row came in one frame."""
    bracket = compaction(2, "c", [0, 1])
    broken = {"no": "type"}
    talk = [user(0, "a"), user(1, "b")]
    rows = [*talk, broken, *bracket] if at == "before" else [*talk, *bracket, broken, user(6, "c")]
    log = read(log_bytes(rows, per_frame=per_frame))
    assert "bad_row" in log.codes
    assert [attempt.damaged_before for attempt in log.scan.attempts] == [before]
