"""Compaction attempts by their brackets: start, summary, checkpoint, end. Rule: SESSION-LOG §6, COMPACTION §9.

Other events may lie between the rows of a bracket and rows may be missing, so nothing here expects neighbours.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from .authors import author_of
from .body import as_int, as_text, expand_seqs
from .events import Event, Replace
from .limits import Limits
from .surface import Surface

Outcome = Literal["completed", "failed", "cancelled", "unmatched"]
Trigger = Literal["manual", "pressure", "overflow", "unknown"]

_OVERFLOW: Final = "CONTEXT_WINDOW_EXCEEDED"
_CANCEL: Final = ("abort", "cancel")


@dataclass(slots=True)
class Attempt:
    """One attempt. Numbers that the log does not give are None; `turn` is also None for a manual one.

    `turn_stated` tells a missing turn from `null`. `span_ok`: `shadowed_seqs` were exactly the surface nodes of
    `shadowed_range` when the summary came (None: not known). `dead`: an end-seed row came before the end, so nobody is
    working on it any more. `damaged_before`: rows before the summary could not be read. `state_seqs`, `system_seqs`:
    rows that held the injected state and the system prompt in force when the summary came. `row` is the row of the
    attempt's first event, `summary_row` the one of its summary.
    """

    compaction_id: str
    row: int
    start_seq: int | None = None
    start_time: int | None = None
    summary_seq: int | None = None
    summary_time: int | None = None
    checkpoint_seq: int | None = None
    end_seq: int | None = None
    end_time: int | None = None
    turn: int | None = None
    turn_stated: bool = False
    overflow: bool = False
    error: str | None = None
    source_command_id: str | None = None
    shadowed_seqs: tuple[int, ...] = ()
    shadowed_range: tuple[int, int] | None = None
    shadowed_tokens: int | None = None
    provider: str | None = None
    model: str | None = None
    max_tokens: int | None = None
    usage: dict[str, int] | None = None
    span_ok: bool | None = None
    dead: bool = False
    inherited: bool = False
    damaged_before: bool = False
    state_seqs: tuple[int, ...] = ()
    system_seqs: tuple[int, ...] = ()
    summary_row: int | None = None

    @property
    def outcome(self) -> Outcome:
        """What became of it, by the log alone: one that is open at the end of the log is `unmatched`."""
        if self.end_seq is None:
            return "unmatched" if self.checkpoint_seq is None else "completed"
        if self.error is None and self.summary_seq is not None:
            return "completed"
        cancelled = self.error is not None and any(word in self.error.lower() for word in _CANCEL)
        return "cancelled" if cancelled else "failed"

    @property
    def trigger(self) -> Trigger:
        """What set it off. Only `manual` stands in the log (`turn: null`); the others are derived."""
        if not self.turn_stated:
            return "unknown"
        if self.turn is None:
            return "manual"
        return "overflow" if self.overflow else "pressure"

    def to_json(self) -> dict[str, Any]:
        """Plain members."""
        return asdict(self)

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> Attempt:
        """Inverse of `to_json`."""
        value = dict(state)
        for name in ("shadowed_seqs", "state_seqs", "system_seqs"):
            value[name] = tuple(value[name])
        if value["shadowed_range"] is not None:
            value["shadowed_range"] = tuple(value["shadowed_range"])
        return cls(**value)


class CompactionTracker:
    """Folds events into attempts. `attempts` holds those touched since the start or `from_json`, in log order."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.attempts: list[Attempt] = []
        self.counts: dict[str, int] = {}
        self._limits = limits or Limits()
        self._open: Attempt | None = None
        self._overflow = False

    def feed(self, event: Event, surface: Surface) -> Attempt | None:
        """Fold one event, before the surface has folded it. The attempt it changed, if any."""
        kind = event.type
        if kind == "user/message":
            return self._checkpoint(event)
        if kind == "assistant/attempt":
            self._overflow = _overflowed(event)
        elif kind == "assistant/message":
            self._overflow = False
        elif kind == "session/end-seed":
            self._overflow = False
            if self._open is not None:
                self._open.dead = True
                return self._close()
        elif kind.startswith("compaction/"):
            if kind == "compaction/start":
                return self._start(event)
            if kind == "compaction/summary":
                return self._summary(event, surface)
            if kind == "compaction/end":
                return self._end(event)
        return None

    def inherit(self) -> None:
        """An end-seed row ended an inherited prefix: every attempt before it is the parent's."""
        for attempt in self.attempts:
            attempt.inherited = True

    def _new(self, event: Event) -> Attempt:
        body = event.body
        if self._open is not None:  # the next one starts although this one never ended
            self._open.dead = True
            self._close()
        turn, stated = turn_of(event)
        attempt = Attempt(
            compaction_id=as_text(body.get("compactionId")) or "",
            row=event.row,
            turn=turn,
            turn_stated=stated,
            overflow=self._overflow,
            inherited=event.inherited,
        )
        self._open = attempt
        self.attempts.append(attempt)
        return attempt

    def _mine(self, event: Event) -> Attempt:
        """The open attempt that a row of a bracket belongs to, or a new one without a start."""
        stated = as_text(event.body.get("compactionId"))
        if self._open is not None and stated in (None, self._open.compaction_id):
            return self._open
        return self._new(event)

    def _start(self, event: Event) -> Attempt:
        attempt = self._new(event)
        attempt.start_seq, attempt.start_time = event.seq, event.time
        attempt.source_command_id = as_text(event.body.get("sourceCommandId"))
        return attempt

    def _summary(self, event: Event, surface: Surface) -> Attempt:
        attempt, body = self._mine(event), event.body
        attempt.summary_seq, attempt.summary_time, attempt.summary_row = event.seq, event.time, event.row
        attempt.source_command_id = attempt.source_command_id or as_text(body.get("sourceCommandId"))
        attempt.shadowed_seqs, _ = expand_seqs(body.get("shadowedSeqs"), self._limits.row_seqs)
        span = body.get("shadowedRange")
        if isinstance(span, dict):
            start, end = as_int(span.get("start")), as_int(span.get("end"))
            if start is not None and end is not None:
                attempt.shadowed_range = (start, end)
                attempt.span_ok = surface.span(start, end) == list(attempt.shadowed_seqs)
        attempt.shadowed_tokens = as_int(body.get("shadowedTokenCount"))
        attempt.provider, attempt.model = as_text(body.get("provider")), as_text(body.get("model"))
        attempt.max_tokens = as_int(body.get("maxTokens"))
        usage = body.get("usage")
        if isinstance(usage, dict):
            attempt.usage = {key: n for key, value in usage.items() if (n := as_int(value)) is not None}
        return attempt

    def _checkpoint(self, event: Event) -> Attempt | None:
        if not isinstance(event.surface_op, Replace):
            return None
        source = event.body.get("source")
        if not author_of(source).is_checkpoint:
            return None
        attempt = self._open
        stated = as_text(source.get("compactionId")) if isinstance(source, dict) else None
        if attempt is None or stated not in (None, attempt.compaction_id):
            return None
        attempt.checkpoint_seq = event.seq
        return attempt

    def _end(self, event: Event) -> Attempt:
        attempt = self._mine(event)
        attempt.end_seq, attempt.end_time = event.seq, event.time
        attempt.error = error_of(event)
        return self._close() or attempt

    def _close(self) -> Attempt | None:
        attempt, self._open = self._open, None
        if attempt is not None:
            self.counts[attempt.outcome] = self.counts.get(attempt.outcome, 0) + 1
        return attempt

    @property
    def totals(self) -> dict[str, int]:
        """Attempts of the whole log by outcome, the open one included."""
        totals = dict(self.counts)
        if self._open is not None:
            totals[self._open.outcome] = totals.get(self._open.outcome, 0) + 1
        return totals

    def to_json(self) -> dict[str, Any]:
        """State: the open attempt and the counts; finished attempts are the caller's to keep."""
        return {
            "open": None if self._open is None else self._open.to_json(),
            "counts": dict(self.counts),
            "overflow": self._overflow,
        }

    @classmethod
    def from_json(cls, state: dict[str, Any], limits: Limits | None = None) -> CompactionTracker:
        """Inverse of `to_json`; the open attempt, if any, is the first of `attempts`."""
        tracker = cls(limits)
        tracker.counts = dict(state["counts"])
        tracker._overflow = state["overflow"]
        if state["open"] is not None:
            tracker._open = Attempt.from_json(state["open"])
            tracker.attempts.append(tracker._open)
        return tracker


def _overflowed(event: Event) -> bool:
    """Whether a failed attempt's stream ended because the context was too long."""
    if _OVERFLOW.encode() not in event.data:
        return False
    stream = event.body.get("stream")
    for record in stream if isinstance(stream, list) else ():
        chunk = record.get("chunk") if isinstance(record, dict) else None
        reason = chunk.get("reason") if isinstance(chunk, dict) else None
        failure = reason.get("failure") if isinstance(reason, dict) else None
        if isinstance(failure, dict) and failure.get("code") == _OVERFLOW:
            return True
    return False


def turn_of(event: Event) -> tuple[int | None, bool]:
    """The turn that a row of a bracket names, and whether it says so at all: a manual one has `turn: null`."""
    body = event.body
    turn = as_int(body.get("turn"))
    return turn, turn is not None or ("turn" in body and body["turn"] is None)


def error_of(event: Event) -> str | None:
    """The words of the error in a `compaction/end` row; None when it ended well."""
    error = event.body.get("error")
    if error is None:
        return None
    text = error.get("message") if isinstance(error, dict) else error
    return text if isinstance(text, str) else "unknown error"
