"""One pass over a log that keeps what every number about compaction needs: measure, surface prices, last compaction.

Rule: COMPACTION §5, §8 (where the harness looks at the pressure), §18. The state is JSON-able and holds seqs, ids and
numbers, no text of rows; with it a log that has grown is caught up with by its new events only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from dshweb.sessionlog.core.authors import author_of
from dshweb.sessionlog.core.body import as_int
from dshweb.sessionlog.core.events import Event, Replace
from dshweb.sessionlog.core.header import Header
from dshweb.sessionlog.core.reader import FrameBatch, LogReader
from dshweb.sessionlog.core.resume import StaleState

from . import last
from .measure import Measure
from .meter import Meter
from .select import Selection, select
from .surface_price import Node

VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Check:
    """A step boundary at which the harness compares the pressure with its threshold, measured there.

    `seq` is the row that shows it: the next `step/start`, or the first row of what the pressure set off (`fired`).
    `again`: a later look at the same boundary, after pruning or a compaction.
    """

    seq: int
    turn: int | None
    fired: bool
    again: bool
    measure: Measure


class Replay:
    """Feed it every event once, in file order: `start`, then `feed`; or `feed_batch` for each frame.

    `on_check` is called at every look at the pressure, before the row that shows it is folded, so that the replay still
    is what the harness saw. `preset` is the agent preset in force, `seq` the last event folded.
    """

    def __init__(self, on_check: Callable[[Replay, Check], None] | None = None) -> None:
        self.meter = Meter()
        self.last: last.Bracket | None = None
        self.preset: str | None = None
        self.turn: int | None = None
        self.seq: int | None = None
        self._on_check = on_check
        self._looks = 0  # at the pressure, at this boundary; -1: none is due
        self._settled: dict[str, Any] | None = None

    # ---- questions

    def measure(self) -> Measure:
        """Tokens of the context now."""
        return self.meter.measure()

    def nodes(self) -> list[Node]:
        """The surface with its prices, in order."""
        return list(self.meter.surface)

    def select(self, retain: int) -> Selection:
        """The range that a compaction would replace now, keeping `retain` tokens."""
        return select(self.nodes(), retain)

    def last_compaction(self, *, running: bool = False, flush_failed: bool = False) -> last.LastCompaction | None:
        """The newest attempt as `inspect` tells it; the flags are what this process knows about that attempt."""
        return last.project(self.last, running=running, flush_failed=flush_failed)

    @property
    def locked(self) -> bool:
        """Whether the log itself keeps the harness from compacting: an attempt that began and never ended."""
        return self.last is not None and self.last.locks

    # ---- folding

    def start(self, header: Header | None) -> None:
        """Take over what the log's header says; call again when it comes late."""
        if header is not None:
            self.meter.version = header.version
            self.preset = self.preset or header.agent_preset

    def feed_batch(self, batch: FrameBatch, reader: LogReader) -> None:
        """Fold the events of one frame as `reader` gives it.

        Those of an unfinished tail are folded too, but `to_state` stays in front of them: they come again.
        """
        self.start(reader.header)
        if batch.frame.provisional and self._settled is None:
            self._settled = self.to_state()
        if batch.frame.unreadable or reader.lost_row is not None:
            self.lose_rows()
        for event in batch.events:
            self.feed(event)

    def lose_rows(self) -> None:
        """Rows in front of the next event could not be read: from here on nothing can be measured."""
        self.meter.fail("rows of the log could not be read")

    def feed(self, event: Event) -> None:
        """Fold one event. Seqs are dense: where they are not, the rows that are here are not what the harness saw."""
        if self.seq is not None and event.seq != self.seq + 1:
            self.meter.fail(f"{event.seq}: the row in front of it is seq {self.seq}")
        self.seq = event.seq
        handler = _HANDLERS.get(event.type)
        if handler is not None:
            handler(self, event)

    def _look(self, event: Event, *, fired: bool) -> None:
        """The harness compares the pressure here; without a routed header it does not."""
        if self._looks < 0 or self.meter.header is None:
            return
        if self._on_check is not None:
            self._on_check(self, Check(event.seq, self.turn, fired, self._looks > 0, self.measure()))
        self._looks += 1

    def _turn_start(self, event: Event) -> None:
        self.turn = as_int(event.body.get("turn"))
        self.meter.close_step()
        self._looks = 0

    def _turn_end(self, event: Event) -> None:
        body = event.body
        self.meter.close_step()
        self.turn, self._looks = None, -1
        bracket, reason = self.last, body.get("reason")
        if bracket is not None and bracket.turn is not None and bracket.turn == as_int(body.get("turn")):
            bracket.turn_aborted = isinstance(reason, dict) and reason.get("kind") == "aborted"

    def _step_start(self, event: Event) -> None:
        self._look(event, fired=False)
        self.meter.open_step(event)
        self._looks = -1

    def _step_end(self, event: Event) -> None:
        self.meter.close_step()
        self._looks = 0

    def _meter(self, event: Event) -> None:
        _METERED[event.type](self.meter, event)

    def _user(self, event: Event) -> None:
        body = self.meter.message(event)
        if not isinstance(event.surface_op, Replace) or self.last is None or self.last.ended:
            return
        source = body.get("source")
        stated = source.get("compactionId") if isinstance(source, dict) else None
        if author_of(source).is_checkpoint and last.is_of(self.last, stated):
            last.add_checkpoint(self.last, event.seq, body.get("content"), self.measure().total)

    def _preset(self, event: Event) -> None:
        name = event.body.get("agentPreset")
        self.preset = name if isinstance(name, str) else self.preset

    def _end_seed(self, event: Event) -> None:
        if self.last is not None and not self.last.ended:
            self.last.dead = True

    def _prune(self, event: Event) -> None:
        if self._looks == 0:  # the rows of one pruning are one look
            self._look(event, fired=True)

    def _compaction(self, event: Event) -> None:
        if event.type == "compaction/start":
            bracket = last.begin(event)
            if bracket.turn is not None:
                self._look(event, fired=True)
            now = self.measure()
            bracket.before_tokens, bracket.before_measurement = now.total, now.measurement
            self.last = bracket
        elif self.last is not None and last.is_of(self.last, event.body.get("compactionId")):
            (last.add_summary if event.type == "compaction/summary" else last.add_end)(self.last, event)

    # ---- state

    def to_state(self) -> dict[str, Any]:
        """JSON-able state after the last settled event."""
        if self._settled is not None:
            return self._settled
        return {
            "v": VERSION,
            "meter": self.meter.to_json(),
            "last": last.to_json(self.last),
            "preset": self.preset,
            "turn": self.turn,
            "seq": self.seq,
            "looks": self._looks,
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any], on_check: Callable[[Replay, Check], None] | None = None) -> Replay:
        """Inverse of `to_state`. Raises StaleState for a state of another version or shape: replay the log anew."""
        if state.get("v") != VERSION:
            raise StaleState("replay state of another version: read the log anew")
        replay = cls(on_check)
        try:
            replay.meter = Meter.from_json(state["meter"])
            replay.last = last.from_json(state["last"])
            replay.preset, replay.turn, replay.seq = state["preset"], state["turn"], state["seq"]
            replay._looks = state["looks"]
        except (AttributeError, KeyError, TypeError, ValueError) as error:  # a shape that changed without its version
            raise StaleState(f"replay state that cannot be read: {error!r}") from error
        return replay


_METERED: Final[dict[str, Callable[[Meter, Event], object]]] = {
    "request/header": Meter.request_header,
    "request/context": Meter.request_context,
    "system/message": Meter.message,
    "developer/message": Meter.message,
    "tool/result": Meter.message,
    "assistant/message": Meter.assistant,
    "assistant/attempt": Meter.attempt,
}
_HANDLERS: Final[dict[str, Callable[[Replay, Event], None]]] = {
    **dict.fromkeys(_METERED, Replay._meter),
    "turn/start": Replay._turn_start,
    "turn/end": Replay._turn_end,
    "step/start": Replay._step_start,
    "step/end": Replay._step_end,
    "agent-preset/selected": Replay._preset,
    "user/message": Replay._user,
    "session/end-seed": Replay._end_seed,
    "compaction/prune": Replay._prune,
    "compaction/start": Replay._compaction,
    "compaction/summary": Replay._compaction,
    "compaction/end": Replay._compaction,
}
