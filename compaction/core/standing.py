"""What a session stands in the middle of: goal, todo list, questions, jobs, children, queued input, open turn.

Rule: STATE-EVENTS §§1-6 and 8; COMPACTION §12. A pure fold with a small JSON-able state. Texts of the log are kept as
`mask` gives them back, and cut; everything else is ids and numbers. A row without these is passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from dshweb.sessionlog.core.authors import author_of
from dshweb.sessionlog.core.body import as_int
from dshweb.sessionlog.core.events import Event
from dshweb.sessionlog.core.header import Header
from dshweb.sessionlog.core.resume import StaleState

from .goal import GoalFold
from .questions import TOOL, Questions

VERSION: Final = 2
KEPT: Final = 500
_TEXT: Final = 4000
_LABEL: Final = 1000
_WORD: Final = 40
_ID: Final = 200  # longer ones are none of DSH's
_ASKS: Final = TOOL.encode()


class Standing:
    """Feed it every event once, in file order. `version` is the log's format: before v4 the log has no jobs at all.

    `todos` None: no list in this turn (not an empty one). `jobs` and `children` map ids to what is known of those that
    have not ended. `queued` holds the message ids of both inboxes; None: the splices do not fit together. Ids are masked
    like texts.
    """

    def __init__(self, mask: Callable[[str], str] = lambda text: text) -> None:
        self.version: int | None = None
        self.goal = GoalFold()
        self.todos: list[dict[str, Any]] | None = None
        self.questions = Questions(mask)
        self.jobs: dict[str, dict[str, Any]] = {}
        self.children: dict[str, dict[str, Any]] = {}
        self.queued: dict[str, list[str]] | None = {"next-turn": [], "next-step": []}
        self.approvals: dict[str, int] = {}
        self.turn: int | None = None
        self.turn_seq: int | None = None
        self._mask = mask

    def start(self, header: Header | None) -> None:
        """Take over what the log's header says."""
        if header is not None:
            self.version = header.version if header.version is not None else self.version

    def feed(self, event: Event) -> None:
        """Fold one event."""
        handler = _HANDLERS.get(event.type)
        if handler is not None:
            handler(self, event)

    # ---- rows

    def _turn_start(self, event: Event) -> None:
        self.turn, self.turn_seq, self.todos = as_int(event.body.get("turn")), event.seq, None
        self.questions.turn_border()
        self.approvals.clear()

    def _turn_end(self, event: Event) -> None:
        self.turn = self.turn_seq = None
        self.questions.turn_border()
        self.approvals.clear()

    def _goal(self, event: Event) -> None:
        body = event.body
        goal = body.get("goal")
        goal = goal if isinstance(goal, dict) else {}
        reason = goal.get("blockedReason")
        words = reason.get("message") if isinstance(reason, dict) else None
        told = self._text(words) if isinstance(words, str) else None
        self.goal.change(event.seq, body, self._text(goal.get("objective")), told)

    def _todo(self, event: Event) -> None:
        items = event.body.get("todos")
        if isinstance(items, list):
            self.todos = [
                {"content": self._text(item.get("content")), "status": self._text(item.get("status"), _WORD)}
                for item in items[:KEPT]
                if isinstance(item, dict)
            ]

    def _header(self, event: Event) -> None:
        self.questions.header(event.body.get("header"))

    def _call(self, event: Event) -> None:
        raw = event.raw
        if _ASKS in bytes(raw) and event.body.get("name") == TOOL:
            self.questions.call(event.seq, event.body)

    def _dispatch(self, event: Event) -> None:
        if _ASKS in event.data and event.body.get("name") == TOOL:
            self.questions.dispatched(event.seq, event.body)

    def _result(self, event: Event) -> None:
        if self.questions.pending:
            self.questions.result(event.body)

    def _user(self, event: Event) -> None:
        source = event.body.get("source")
        if not isinstance(source, dict):
            return
        kind = author_of(source).kind  # v0 to v3 wrap it
        if kind == "user-question-reply":
            self.questions.reply(source)
        elif kind == "goal" and "round" in source:
            self.goal.round(event.seq, source)
        elif kind == "subagent-settled":
            self._settled(source)

    def _job(self, event: Event) -> None:
        body = event.body
        job = self._key(body.get("jobId"))
        if job is None:
            return
        if event.type == "job/settled":
            self.jobs.pop(job, None)
        elif len(self.jobs) < KEPT:
            self.jobs[job] = {
                "seq": event.seq, "kind": self._text(body.get("kind"), _WORD), "label": self._text(body.get("label"), _LABEL),
                "startedAt": as_int(body.get("startedAt")),
            }  # fmt: skip

    def _child(self, event: Event) -> None:
        body = event.body
        child = self._key(body.get("childId"))
        if child is not None and child not in self.children and len(self.children) < KEPT:
            self.children[child] = {
                "seq": event.seq, "mode": self._text(body.get("mode"), _WORD),
                "label": self._text(body.get("label"), _LABEL) or None,
            }  # fmt: skip

    def _settled(self, source: Mapping[str, Any]) -> None:
        child = self._key(source.get("senderSessionId"))
        if child is not None:
            self.children.pop(child, None)

    def _splice(self, event: Event) -> None:
        body = event.body
        inserted, start = body.get("inserted"), as_int(body.get("start"))
        removed = as_int(body.get("removedCount")) or 0
        row = None if self.queued is None else self.queued.get(str(body.get("target")))
        if row is None or not isinstance(inserted, list) or start is None or start < 0 or removed < 0:
            self.queued = None
            return
        if start + removed > len(row) or len(row) + len(inserted) > KEPT:
            self.queued = None
            return
        row[start : start + removed] = [self._key(m.get("id")) or "" if isinstance(m, dict) else "" for m in inserted]
        ids = [message for ids in self.queued.values() for message in ids if message] if self.queued else []
        if len(set(ids)) < len(ids):
            self.queued = None
        for message in inserted:
            source = message.get("source") if isinstance(message, dict) else None
            if isinstance(source, dict) and author_of(source).kind == "subagent-settled":
                self._settled(source)

    def _approval(self, event: Event) -> None:
        asked = self._key(event.body.get("id"))
        if asked is None:
            return
        if event.type == "approval/decided":
            self.approvals.pop(asked, None)
        elif len(self.approvals) < KEPT:
            self.approvals[asked] = event.seq

    def _end_seed(self, event: Event) -> None:
        """Another process took the log over: jobs and children lived in the one before, external children in their own.

        Inherited rows are the parent's.
        """
        self.jobs.clear()
        if event.body.get("inherited") is True:
            self.questions.pending.clear()
            self.children.clear()
        self.children = {child: found for child, found in self.children.items() if found["mode"] == "external"}

    def _text(self, value: Any, most: int = _TEXT) -> str:
        return self._mask(value)[:most] if isinstance(value, str) else ""

    def _key(self, value: Any) -> str | None:
        return self._mask(value)[:_ID] if isinstance(value, str) and len(value) <= _ID else None

    # ---- answers

    @property
    def jobs_known(self) -> bool:
        """Whether the log's format tells of jobs; of an unknown one, whether it did."""
        return bool(self.jobs) if self.version is None else self.version >= 4  # the first format with job rows

    def document(self) -> dict[str, Any]:
        """The state as it is told: COMPACTION §12's five parts, and what else keeps a session busy. Unknown is null.

        Whether a job or a child still runs cannot be told from a log alone; these have not ended as far as it says.
        """
        goal = self.goal.goal
        return {
            "goal": None if goal is None else {
                "objective": goal.objective, "phase": goal.phase, "blockedReason": goal.reason,
                "roundsStarted": goal.rounds, "maxGoalRounds": goal.most_rounds,
            },
            "goalFailed": self.goal.failed,
            "todos": self.todos,
            "questions": [{"callId": call, **found} for call, found in self.questions.pending.items()],
            "jobs": [{"jobId": job, **found} for job, found in self.jobs.items()] if self.jobs_known else None,
            "children": [
                {"id": child, "mode": found["mode"], "label": found["label"], "seq": found["seq"]}
                for child, found in self.children.items()
            ],
            "queued": None if self.queued is None else sum(map(len, self.queued.values())),
            "approvals": len(self.approvals),
            "openTurn": self.turn,
            "openTurnSeq": self.turn_seq,
        }  # fmt: skip

    def to_state(self) -> dict[str, Any]:
        """JSON-able state."""
        return {
            "v": VERSION,
            "version": self.version,
            "goal": self.goal.to_json(),
            "todos": self.todos,
            "questions": self.questions.to_json(),
            "jobs": {job: dict(found) for job, found in self.jobs.items()},
            "children": {child: dict(found) for child, found in self.children.items()},
            "queued": None if self.queued is None else {name: list(ids) for name, ids in self.queued.items()},
            "approvals": dict(self.approvals),
            "turn": [self.turn, self.turn_seq],
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any], mask: Callable[[str], str] = lambda text: text) -> Standing:
        """Inverse of `to_state`. Raises StaleState for a state of another version or shape."""
        if state.get("v") != VERSION:
            raise StaleState("standing of another version: read the log anew")
        made = cls(mask)
        try:
            made.version, made.todos = state["version"], state["todos"]
            made.goal = GoalFold.from_json(state["goal"])
            made.questions.load(state["questions"])
            made.jobs, made.children = dict(state["jobs"]), {k: dict(v) for k, v in state["children"].items()}
            queued = state["queued"]
            made.queued = None if queued is None else {name: list(ids) for name, ids in queued.items()}
            made.approvals = dict(state["approvals"])
            made.turn, made.turn_seq = state["turn"]
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise StaleState(f"standing that cannot be read: {error!r}") from error
        return made


_HANDLERS: Final[dict[str, Callable[[Standing, Event], None]]] = {
    "turn/start": Standing._turn_start,
    "turn/end": Standing._turn_end,
    "goal/change": Standing._goal,
    "todo/write": Standing._todo,
    "request/header": Standing._header,
    "tool/call": Standing._call,
    "tool/ptc-dispatch": Standing._dispatch,
    "tool/result": Standing._result,
    "user/message": Standing._user,
    "job/registered": Standing._job,
    "job/settled": Standing._job,
    "subagent/catalog": Standing._child,
    "agent/inbox/spliced": Standing._splice,
    "approval/asked": Standing._approval,
    "approval/decided": Standing._approval,
    "session/end-seed": Standing._end_seed,
}
