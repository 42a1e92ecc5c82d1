"""The newest compaction of a log, as `inspect` tells it. Rule: COMPACTION §18 "lastCompaction projection".

A pure function of the log but for two things that only a running process knows, which the caller passes: whether the
attempt is in flight, and whether writing it to disk failed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from dshweb.sessionlog.core.body import as_int, as_text
from dshweb.sessionlog.core.compactions import error_of, turn_of
from dshweb.sessionlog.core.events import Event

from .mode import Mode, mode_of

Status = Literal["completed", "failed", "cancelled", "running", "persistence-error"]

_ABORT: Final = re.compile(r"\b(?:abort(?:ed)?|cancell?ed|cancel)\b", re.IGNORECASE | re.ASCII)
_CAUSE: Final = "[object Object]"  # what an abort's cause object turns into
UNFINISHED_COMMIT: Final = "commit did not finish"
NO_END: Final = "no end event"


@dataclass(slots=True)
class Bracket:
    """Rows of the newest attempt. Unknown is None; `ended` tells an end row without error from none.

    `turn` None is a manual attempt when `turn_stated`. `turn_aborted`: the turn that owns it ended as aborted.
    `dead`: an end-seed row came before its end, so nobody works on it any more.
    """

    id: str
    start_seq: int
    start_time: int | None
    turn: int | None
    turn_stated: bool
    before_tokens: int | None = None
    before_measurement: str | None = None
    summary_seq: int | None = None
    checkpoint_seq: int | None = None
    after_tokens: int | None = None
    mode: Mode | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    ended: bool = False
    end_time: int | None = None
    error: str | None = None
    turn_aborted: bool = False
    dead: bool = False

    @property
    def manual(self) -> bool:
        """Whether the log proves that a person asked for it."""
        return self.turn is None and self.turn_stated

    @property
    def locks(self) -> bool:
        """Whether it still keeps the harness from compacting: no end row, and no process took the log over since."""
        return not self.ended and not self.dead


@dataclass(frozen=True, slots=True)
class LastCompaction:
    """The projection. `trigger` is as far as the log proves it; `measurement` says what `before_tokens` rests on."""

    id: str
    trigger: Literal["manual", "automatic"]
    status: Status
    mode: Mode | None
    before_tokens: int | None
    after_tokens: int | None
    duration_ms: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    error: str | None

    def to_json(self) -> dict[str, Any]:
        """The body of `lastCompaction` in `inspect`."""
        return {
            "id": self.id, "trigger": self.trigger, "status": self.status, "mode": self.mode,
            "beforeTokens": self.before_tokens, "afterTokens": self.after_tokens, "durationMs": self.duration_ms,
            "cacheReadTokens": self.cache_read_tokens, "cacheWriteTokens": self.cache_write_tokens, "error": self.error,
        }  # fmt: skip


def begin(event: Event) -> Bracket:
    """Bracket of a `compaction/start` row."""
    turn, stated = turn_of(event)
    return Bracket(as_text(event.body.get("compactionId")) or "", event.seq, event.time, turn, stated)


def is_of(bracket: Bracket, compaction_id: object) -> bool:
    """Whether a row that names `compaction_id` belongs to the bracket; one that names none does."""
    return compaction_id is None or compaction_id == bracket.id


def add_summary(bracket: Bracket, event: Event) -> None:
    """Take over a `compaction/summary` row."""
    bracket.summary_seq = event.seq
    usage = event.body.get("usage")
    if isinstance(usage, dict):
        bracket.cache_read_tokens = as_int(usage.get("cacheReadTokens"))
        bracket.cache_write_tokens = as_int(usage.get("cacheWriteTokens"))


def add_checkpoint(bracket: Bracket, seq: int, content: Any, after_tokens: int | None) -> None:
    """Take over the message that replaced the range; `after_tokens` is the measure with it in place."""
    bracket.checkpoint_seq, bracket.after_tokens = seq, after_tokens
    bracket.mode = mode_of(content)


def add_end(bracket: Bracket, event: Event) -> None:
    """Take over a `compaction/end` row."""
    bracket.ended, bracket.end_time = True, event.time
    if (error := error_of(event)) is not None:
        bracket.error = error


def project(bracket: Bracket | None, *, running: bool = False, flush_failed: bool = False) -> LastCompaction | None:
    """The projection; None without an attempt. `running`, `flush_failed`: what this process knows about this attempt."""
    return None if bracket is None else told(bracket, running=running, flush_failed=flush_failed)


def told(bracket: Bracket, *, running: bool = False, flush_failed: bool = False) -> LastCompaction:
    """The same of a given attempt."""
    duration = None
    if bracket.start_time is not None and bracket.end_time is not None and bracket.end_time >= bracket.start_time:
        duration = bracket.end_time - bracket.start_time
    status, error = _status(bracket, running=running, flush_failed=flush_failed)
    return LastCompaction(
        bracket.id, "manual" if bracket.manual else "automatic", status, bracket.mode,
        bracket.before_tokens, bracket.after_tokens, duration, bracket.cache_read_tokens, bracket.cache_write_tokens, error,
    )  # fmt: skip


def _status(bracket: Bracket, *, running: bool, flush_failed: bool) -> tuple[Status, str | None]:
    if not bracket.ended:
        if running and not bracket.dead:
            return "running", None
        body = bracket.summary_seq is not None or bracket.checkpoint_seq is not None
        return "failed", UNFINISHED_COMMIT if body else NO_END
    if bracket.error is None:
        return ("persistence-error" if flush_failed else "completed"), None
    return ("cancelled" if _cancelled(bracket) else "failed"), bracket.error


def _cancelled(bracket: Bracket) -> bool:
    error = bracket.error or ""
    return bool(_ABORT.search(error)) or (_CAUSE in error and (bracket.manual or bracket.turn_aborted))


def to_json(bracket: Bracket | None) -> dict[str, Any] | None:
    """Plain members of the state."""
    return None if bracket is None else asdict(bracket)


def from_json(state: Mapping[str, Any] | None) -> Bracket | None:
    """Inverse of `to_json`."""
    return None if state is None else Bracket(**state)
