"""What a session stands in the middle of, against the recorded facts of the corpus, and row by row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compaction.core.standing import Standing
from dshweb.sessionlog.core.events import Event
from dshweb.sessionlog.core.reader import read_log
from dshweb.sessionlog.core.resume import StaleState

CORPUS = Path(__file__).parents[3] / "tests" / "data" / "corpus"


def parent_log(scenario: str) -> dict[str, Any]:
    """The standing of the scenario's top session, gone on from a stored state in the middle."""
    for path in sorted((CORPUS / scenario).rglob("session*.jsonl*")):
        with path.open("rb") as source:
            reader, standing = read_log(source), Standing()
            events = []
            for batch in reader:
                standing.start(reader.header)
                events += batch.events
        if reader.header is None or reader.header.parent_session is None:
            break
    for n, event in enumerate(events):
        if n == len(events) // 2:
            standing = Standing.from_state(json.loads(json.dumps(standing.to_state())))
        standing.feed(event)
    return standing.document()


def facts(scenario: str) -> dict[str, Any]:
    return json.loads((CORPUS / scenario / "facts.json").read_text())["facts"]


def test_a_killed_session_shows_everything_it_was_in_the_middle_of():
    found, wanted = parent_log("work-running"), facts("work-running")
    assert found["goal"]["objective"] == wanted["goal"]
    assert [[todo["content"], todo["status"]] for todo in found["todos"]] == wanted["todos"]
    assert len(found["jobs"]) == wanted["runningJobs"]
    assert len(found["children"]) == wanted["runningChildren"]
    assert [one["state"] for one in found["questions"]] == ["open"]
    assert found["openTurn"] == 1


def test_a_resumed_session_has_no_running_jobs_and_its_question_goes_on():
    found = parent_log("work-running-resumed")
    assert (found["jobs"], found["children"], found["openTurn"]) == ([], [], None)
    assert [one["state"] for one in found["questions"]] == ["continued"]
    assert found["goal"]["phase"] == "active"


def test_settled_work_leaves_nothing_but_the_list_of_the_turn():
    found, wanted = parent_log("work-settled"), facts("work-settled")
    assert (found["jobs"], found["children"], found["questions"], found["queued"]) == ([], [], [], 0)
    assert [[todo["content"], todo["status"]] for todo in found["todos"]] == wanted["todos"]


def test_a_question_whose_wait_is_over_is_still_pending():
    assert len(parent_log("work-question-pending")["questions"]) == facts("work-question-pending")["continuedQuestions"]


def test_input_that_waits_is_counted():
    found, wanted = parent_log("inbox-steer-queue"), facts("inbox-steer-queue")
    assert (found["queued"], found["openTurn"]) == (len(wanted["pendingInbox"]), wanted["openTurn"])


def test_the_goal_follows_its_operations():
    found = parent_log("work-goal")
    assert found["goal"]["phase"] == "paused"
    assert (found["goal"]["roundsStarted"], found["goal"]["maxGoalRounds"]) == (2, 256)
    assert found["goalFailed"] is None
    exhausted = parent_log("work-goal-rounds-exhausted")["goal"]
    assert (exhausted["phase"], exhausted["roundsStarted"]) == ("blocked", 2)


def test_a_log_of_before_v4_says_nothing_of_jobs():
    assert parent_log("legacy-v3")["jobs"] is None


def event(kind: str, seq: int = 1, /, **data: Any) -> Event:
    return Event(kind, seq, 1, msgspec.Raw(json.dumps(data).encode()), seq)


def goal(operation: str, revision: int, phase: str = "active", **more: Any) -> Event:
    of = {"id": "g", "revision": revision, "objective": "o", "phase": phase, "maxGoalRounds": 3, **more}
    return event("goal/change", operation=operation, goal=of, roundsStarted=0, createdAt=1, updatedAt=1)


@pytest.mark.parametrize(
    "rows",
    [
        [goal("create", 1), goal("create", 1)],
        [goal("create", 1), goal("edit", 3)],
        [goal("create", 1), goal("pause", 2, "complete")],
        [goal("create", 1), event("goal/change", operation="clear", cleared={"id": "other", "revision": 2})],
        [goal("create", 1), event("user/message", source={"kind": "goal", "goalId": "g", "revision": 1, "round": 2})],
        [goal("create", 1), goal("pause", 2, "paused", objective="another")],
        [goal("create", 1), goal("block", 2, "blocked")],
        [goal("create", 1), goal("edit", 2, blockedReason={"code": "x", "message": "stuck"})],
        [goal("create", 1), goal("ghp_" + "a1B2" * 9, 2)],
    ],
)
def test_a_goal_event_out_of_order_keeps_the_last_good_goal_and_says_so(rows):
    standing = Standing()
    for row in rows:
        standing.feed(row)
    document = standing.document()
    assert document["goal"]["phase"] == "active"
    assert document["goalFailed"].startswith("1: ")
    assert "ghp_" not in document["goalFailed"]


@pytest.mark.parametrize("source", [{"kind": "goal"}, {"kind": "plugin", "plugin": "goal"}])
def test_a_round_counts_however_the_format_names_its_author(source):
    standing = Standing()
    standing.feed(goal("create", 1))
    standing.feed(event("user/message", source={**source, "goalId": "g", "revision": 1, "round": 1}))
    assert standing.document()["goal"]["roundsStarted"] == 1
    assert standing.document()["goalFailed"] is None


def test_a_todo_list_is_of_its_turn_and_no_list_is_not_an_empty_one():
    standing = Standing()
    standing.feed(event("todo/write", todos=[]))
    assert standing.document()["todos"] == []
    standing.feed(event("turn/start", turn=1))
    assert standing.document()["todos"] is None


def test_a_question_without_a_timeout_ends_with_its_turn():
    standing = Standing()
    asked = json.dumps({"questions": [{"id": "a", "question": "Which?"}]})
    standing.feed(event("tool/call", callId="c", name="ask_user_question", arguments=asked))
    assert [one["state"] for one in standing.document()["questions"]] == ["untimed"]
    standing.feed(event("turn/end", turn=1))
    assert standing.document()["questions"] == []


def test_an_inbox_whose_splices_do_not_fit_is_unknown_not_empty():
    standing = Standing()
    standing.feed(event("agent/inbox/spliced", target="next-turn", start=3, inserted=[]))
    assert standing.document()["queued"] is None
    standing = Standing()
    standing.feed(event("agent/inbox/spliced", target="next-turn", start=0, inserted=[{"id": "a"}]))
    assert standing.document()["queued"] == 1
    standing.feed(event("agent/inbox/spliced", target="next-step", start=0, inserted=[{"id": "a"}]))
    assert standing.document()["queued"] is None


def test_children_end_with_their_process_but_those_outside_it_only_when_they_say_so():
    standing = Standing()
    for n in range(1200):  # more than are kept at once
        standing.feed(event("subagent/catalog", childId=f"s{n}", mode="one-shot"))
        standing.feed(event("user/message", source={"kind": "subagent-settled", "senderSessionId": f"s{n}"}))
    standing.feed(event("subagent/catalog", childId="inside", mode="continuable"))
    standing.feed(event("subagent/catalog", childId="outside", mode="external"))
    assert [one["id"] for one in standing.document()["children"]] == ["inside", "outside"]
    standing.feed(event("session/end-seed"))
    assert [one["id"] for one in standing.document()["children"]] == ["outside"]
    standing.feed(event("user/message", source={"kind": "subagent-settled", "senderSessionId": "outside"}))
    assert standing.document()["children"] == []


def test_of_an_unknown_format_jobs_are_known_once_there_are_some():
    standing = Standing()
    assert standing.document()["jobs"] is None
    standing.feed(event("job/registered", jobId="j", kind="bash", label="make"))
    assert [one["jobId"] for one in standing.document()["jobs"]] == ["j"]


def test_what_is_kept_stays_small_however_much_a_log_asks():
    standing = Standing()
    options = [{"label": "o" * 3000}] * 60
    asked = {"questions": [{"id": "i" * 3000, "question": "q" * 3000, "options": options}] * 60}
    for n in range(80):
        standing.feed(event("tool/call", callId=f"c{n}", name="ask_user_question", arguments=asked))
        standing.feed(event("job/registered", jobId=f"j{n}", kind="k" * 9000, label="l" * 9000))
    document = standing.document()
    assert (len(document["questions"]), len(document["jobs"])) == (50, 80)
    assert len(json.dumps(document)) < 8_000_000


def test_texts_are_masked_before_they_are_kept():
    standing = Standing(lambda text: text.replace("secret", "***"))
    standing.feed(event("todo/write", todos=[{"content": "the secret", "status": "pending"}]))
    ids = {
        "jobId": "secret",
        "childId": "secret",
        "mode": "secret",
        "id": "secret",
        "callId": "secret",
        "subCallId": "secret",
    }
    asked = {"questions": [{"id": "secret", "question": "secret?", "options": [{"label": "secret"}]}]}
    for kind in ("job/registered", "subagent/catalog", "approval/asked", "tool/call", "tool/ptc-dispatch"):
        standing.feed(
            event(kind, name="ask_user_question", arguments=asked, content=[{"text": '{"pending":true}'}], **ids)
        )
    standing.feed(goal("create", 1, id="secret"))
    standing.feed(event("agent/inbox/spliced", target="next-turn", start=0, inserted=[{"id": "secret"}]))
    told = standing.document()
    assert [len(told[name]) for name in ("questions", "jobs", "children")] == [1, 1, 1]
    assert "secret" not in json.dumps([standing.to_state(), told])
    standing.feed(event("job/settled", jobId="secret"))
    standing.feed(event("tool/result", message={"toolCallId": "secret", "content": []}))
    assert (standing.jobs, standing.questions.pending) == ({}, {})


@pytest.mark.parametrize("data", [{}, {"source": 3}, {"goal": []}, {"todos": {"a": 1}}, {"inserted": 3, "start": "x"}])
def test_rows_of_any_shape_are_passed_over(data):
    from compaction.core.standing import _HANDLERS

    standing = Standing()
    for kind in _HANDLERS:
        standing.feed(event(kind, **data))
    assert Standing.from_state(json.loads(json.dumps(standing.to_state()))).document() == standing.document()


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.sampled_from(["", "c", '{"questions":[{"options":5}]}']),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "label", "question", "options"]), inner),
    max_leaves=8,
)  # fmt: skip


@given(values, values)
@settings(max_examples=100, deadline=None)
def test_a_question_of_any_shape_is_taken_as_far_as_it_goes(one, other):
    standing = Standing()
    for asked in (one, {"questions": one}, {"questions": [one, {"options": other, "id": one, "question": other}]}):
        standing.feed(event("tool/call", callId="c", name="ask_user_question", arguments=asked))
        standing.feed(
            event("tool/ptc-dispatch", subCallId="s", name="ask_user_question", arguments=asked, content=other)
        )
    assert "c" in standing.questions.pending


def test_a_state_of_another_version_is_refused():
    with pytest.raises(StaleState):
        Standing.from_state({**Standing().to_state(), "v": 0})
    with pytest.raises(StaleState):
        Standing.from_state({"v": 1})
