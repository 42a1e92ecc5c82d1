"""Small folds for pages and the audit: turns, model, title, usage, and which rows hold the injected state.

Rules: SESSION-LOG §7 and §9, STATE-EVENTS §§1-6 and 9. State that goes to the database holds seqs and numbers, not
texts; a text is taken from its row when needed, after masking.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Final

from .body import as_int
from .events import Event
from .header import Header

USAGE_KEYS: Final = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
_JOBS_KEPT: Final = 200
_ASKS: Final = b"ask_user_question"


@dataclass(slots=True)
class Usage:
    """Sums of token counts; the four kinds are disjoint, `calls` is how many calls reported any."""

    inputTokens: int = 0
    outputTokens: int = 0
    cacheReadTokens: int = 0
    cacheWriteTokens: int = 0
    calls: int = 0

    def add(self, usage: Any) -> None:
        """Add one call's usage as the log has it."""
        if isinstance(usage, dict):
            for key in USAGE_KEYS:
                setattr(self, key, getattr(self, key) + (as_int(usage.get(key)) or 0))
            self.calls += 1

    def merge(self, other: Usage) -> None:
        """Add the sums of `other`."""
        self.add(asdict(other))
        self.calls += other.calls - 1

    @property
    def total(self) -> int:
        """All tokens."""
        return self.inputTokens + self.outputTokens + self.cacheReadTokens + self.cacheWriteTokens


@dataclass(slots=True)
class WorkState:
    """What is in force after the events so far. Own numbers do not count a fork's inherited prefix.

    `*_seq` name the row that says so. `title` and `cwd` are known only when a row has said them since `from_json`.
    `questions` maps open `ask_user_question` calls to their rows, `jobs` unsettled jobs, `children`
    known children; the first two die with an end-seed row as SESSION-LOG §9 says.
    """

    turn: int | None = None
    open_turn: bool = False
    turns: int = 0
    own_turns: int = 0
    events: int = 0
    own_events: int = 0
    last_seq: int | None = None
    last_time: int | None = None
    first_time: int | None = None
    title_seq: int | None = None
    title: str | None = None
    provider: str | None = None
    model: str | None = None
    window: int | None = None
    cwd: str | None = None
    preset: str | None = None
    header_seq: int | None = None
    system_seqs: list[int] = field(default_factory=list)
    goal_seq: int | None = None
    todo_seq: int | None = None
    questions: dict[str, int] = field(default_factory=dict)
    jobs: dict[str, int] = field(default_factory=dict)
    children: dict[str, int] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    inherited_usage: Usage = field(default_factory=Usage)
    compaction_usage: Usage = field(default_factory=Usage)
    inherited_compaction_usage: Usage = field(default_factory=Usage)

    def start(self, header: Header | None) -> None:
        """Take over what the header says."""
        if header is not None:
            self.cwd = self.cwd or header.cwd
            self.preset = self.preset or header.agent_preset

    def feed(self, event: Event) -> None:
        """Fold one event."""
        self.events += 1
        self.own_events += 1
        self.last_seq = event.seq
        if event.time is not None:
            self.last_time = event.time
            if self.first_time is None:
                self.first_time = event.time
        handler = _HANDLERS.get(event.type)
        if handler is not None:
            handler(self, event)

    def inherit(self) -> None:
        """The rows so far belong to the parent: its goal and settings stay in force, its numbers are not ours."""
        self.inherited_usage.merge(self.usage)
        self.inherited_compaction_usage.merge(self.compaction_usage)
        self.usage, self.compaction_usage = Usage(), Usage()
        self.own_turns = self.own_events = 0
        self.questions.clear()
        self.children.clear()

    @property
    def state_seqs(self) -> tuple[int, ...]:
        """Rows that hold the injected state in force: goal, todo list, open questions, jobs, children."""
        rows = [self.goal_seq, self.todo_seq, *self.questions.values(), *self.jobs.values(), *self.children.values()]
        return tuple(sorted({seq for seq in rows if seq is not None}))

    @property
    def prompt_seqs(self) -> tuple[int, ...]:
        """Rows that hold the system prompts (v3, v4), or the request header that carries it (v0 to v2)."""
        if self.system_seqs:
            return tuple(self.system_seqs)
        return () if self.header_seq is None else (self.header_seq,)

    def to_json(self) -> dict[str, Any]:
        """State without texts of rows: the title and the working directory are the caller's to keep, masked."""
        state = asdict(self)
        del state["title"], state["cwd"]
        return state

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> WorkState:
        """Inverse of `to_json`; `title` and `cwd` are None until a row says them anew."""
        value: dict[str, Any] = {k: v.copy() if isinstance(v, (dict, list)) else v for k, v in state.items()}
        for name in ("usage", "inherited_usage", "compaction_usage", "inherited_compaction_usage"):
            value[name] = Usage(**value[name])
        return cls(**value)


def _turn_start(state: WorkState, event: Event) -> None:
    state.turn = as_int(event.body.get("turn"))
    state.open_turn = True
    state.turns += 1
    state.own_turns += 1
    state.todo_seq = None  # DSH's own projection clears the list here


def _turn_end(state: WorkState, event: Event) -> None:
    state.open_turn = False


def _title(state: WorkState, event: Event) -> None:
    body = event.body
    if isinstance(body.get("title"), str):
        state.title_seq, state.title = event.seq, body["title"]


def _request_header(state: WorkState, event: Event) -> None:
    header = event.body.get("header")
    header = header if isinstance(header, dict) else {}
    config = header.get("config")
    config = config if isinstance(config, dict) else {}
    state.header_seq = event.seq
    if isinstance(config.get("model"), str):
        state.model = config["model"]
        state.provider = config["provider"] if isinstance(config.get("provider"), str) else None


def _request_context(state: WorkState, event: Event) -> None:
    window = as_int(event.body.get("contextWindow"))
    if window is not None:
        state.window = window


def _cwd(state: WorkState, event: Event) -> None:
    body = event.body
    if isinstance(body.get("cwd"), str):
        state.cwd = body["cwd"]


def _preset(state: WorkState, event: Event) -> None:
    body = event.body
    if isinstance(body.get("agentPreset"), str):
        state.preset = body["agentPreset"]


def _system(state: WorkState, event: Event) -> None:
    state.system_seqs = [*state.system_seqs[-9:], event.seq]


def _goal(state: WorkState, event: Event) -> None:
    state.goal_seq = None if event.body.get("operation") == "clear" else event.seq


def _todo(state: WorkState, event: Event) -> None:
    state.todo_seq = event.seq


def _tool_call(state: WorkState, event: Event) -> None:
    raw = event.data
    if _ASKS not in raw and b"\\u" not in raw:  # most calls are of other tools: not worth decoding
        return
    body = event.body
    call = body.get("callId")
    if body.get("name") == "ask_user_question" and isinstance(call, str):
        state.questions[call] = event.seq


def _tool_result(state: WorkState, event: Event) -> None:
    if not state.questions:
        return
    body = event.body
    message = body.get("message")
    call = message.get("toolCallId") if isinstance(message, dict) else None
    if call is None and isinstance(message, dict) and isinstance(message.get("source"), dict):
        call = message["source"].get("callId")
    if not isinstance(call, str) or call not in state.questions:
        return
    error = body.get("error")
    unknown = isinstance(error, dict) and error.get("code") == "TOOL_OUTCOME_UNKNOWN"
    pending = b'\\"pending\\":true' in event.data or b'\\"pending\\": true' in event.data
    if not unknown and not pending:
        del state.questions[call]


def _user(state: WorkState, event: Event) -> None:
    source = event.body.get("source")
    if isinstance(source, dict) and source.get("kind") == "user-question-reply":
        state.questions.pop(str(source.get("callId")), None)


def _job(state: WorkState, event: Event) -> None:
    job = event.body.get("jobId")
    if not isinstance(job, str):
        return
    if event.type == "job/settled":
        state.jobs.pop(job, None)
    elif len(state.jobs) < _JOBS_KEPT:
        state.jobs[job] = event.seq


def _child(state: WorkState, event: Event) -> None:
    child = event.body.get("childId")
    if isinstance(child, str) and len(state.children) < _JOBS_KEPT:
        state.children[child] = event.seq


def _end_seed(state: WorkState, event: Event) -> None:
    state.jobs.clear()  # jobs live in one process


def _assistant(state: WorkState, event: Event) -> None:
    state.usage.add(event.body.get("usage"))


def _summary(state: WorkState, event: Event) -> None:
    state.compaction_usage.add(event.body.get("usage"))


_HANDLERS: Final = {
    "turn/start": _turn_start,
    "turn/end": _turn_end,
    "session/title": _title,
    "request/header": _request_header,
    "request/context": _request_context,
    "working-directory/change": _cwd,
    "agent-preset/selected": _preset,
    "system/message": _system,
    "goal/change": _goal,
    "todo/write": _todo,
    "tool/call": _tool_call,
    "tool/result": _tool_result,
    "user/message": _user,
    "job/registered": _job,
    "job/settled": _job,
    "subagent/catalog": _child,
    "session/end-seed": _end_seed,
    "assistant/message": _assistant,
    "compaction/summary": _summary,
}
