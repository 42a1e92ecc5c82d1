"""All folds in one pass over the events of a log, with a state small enough to go on when the log has grown."""

from __future__ import annotations

from typing import Any, Final

from .compactions import Attempt, CompactionTracker
from .events import Event
from .header import Header
from .messages import Message, parse_message
from .order import END_SEED
from .reader import FrameBatch, LogReader
from .resume import StaleState
from .state import WorkState
from .surface import Surface

VERSION: Final = 2
_CALLS_KEPT: Final = 256


class Scan:
    """Feed it every event once, in file order.

    `attempts` are the compaction attempts touched since the start or `from_state`; `compaction_totals` count the whole
    log. `damaged` is set by `enter` once bytes before the next events could not be read; rows may also be lost in the
    middle of a frame, behind row `lost_row`.
    """

    def __init__(self) -> None:
        self.surface = Surface()
        self.compactions = CompactionTracker()
        self.work = WorkState()
        self.damaged = False
        self.lost_row: int | None = None
        self.tools: dict[str, str] = {}
        self.seed_length: int | None = None
        self._settled: dict[str, Any] | None = None

    @property
    def attempts(self) -> list[Attempt]:
        """Attempts touched in this run, in log order."""
        return self.compactions.attempts

    @property
    def compaction_totals(self) -> dict[str, int]:
        """Attempts of the whole log by outcome."""
        return self.compactions.totals

    def start(self, header: Header | None) -> None:
        """Take over what the header says; call again when it comes late."""
        self.work.start(header)
        if header is not None:
            self.seed_length = header.seed_length

    def feed_batch(self, batch: FrameBatch, reader: LogReader) -> list[Message]:
        """Feed the events of one frame as `reader` gives it; the messages among them."""
        self.enter(batch, reader)
        return [message for event in batch.events if (message := self.feed(event)) is not None]

    def enter(self, batch: FrameBatch, reader: LogReader) -> None:
        """What is to be known before the events of a frame are fed one by one (`feed_batch` calls it).

        In front of the first provisional frame the state is kept for `to_state`: its events come again.
        """
        self.start(reader.header)
        if batch.frame.provisional and self._settled is None:
            self._settled = self.to_state()
        if batch.frame.unreadable:
            self.damaged = True
        self.lost_row = reader.lost_row

    def feed(self, event: Event) -> Message | None:
        """Fold one event; its message if it is a surface event."""
        kind = event.type
        attempt = self.compactions.feed(event, self.surface)
        if attempt is not None and kind == "compaction/summary":
            attempt.state_seqs = self.work.state_seqs
            attempt.system_seqs = self.work.prompt_seqs
            attempt.damaged_before = self.damaged or (self.lost_row is not None and self.lost_row < event.row)
        self.work.feed(event)
        if kind == END_SEED and event.body.get("inherited") is True:
            self._inherit()
        elif self.seed_length is not None and event.seq == self.seed_length - 1:
            self._inherit()  # a v0 fork has a seed length instead of an end-seed row that says so
        if event.surface_op is None:
            return None
        self.surface.apply(event)
        message = parse_message(event, turn=self.work.turn if self.work.open_turn else None, tools=self.tools)
        if message is not None:
            for call_id, name in message.calls:
                self._remember(call_id, name)
        return message

    def _inherit(self) -> None:
        self.compactions.inherit()
        self.work.inherit()

    def _remember(self, call_id: str, name: str) -> None:
        self.tools[call_id] = name
        if len(self.tools) > _CALLS_KEPT:
            del self.tools[next(iter(self.tools))]

    def to_state(self) -> dict[str, Any]:
        """JSON-able state after the last settled event: seqs, ids, names and numbers, no text of rows."""
        if self._settled is not None:
            return self._settled
        return {
            "v": VERSION,
            "surface": self.surface.to_json(),
            "compactions": self.compactions.to_json(),
            "work": self.work.to_json(),
            "damaged": self.damaged,
            "tools": dict(self.tools),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], header: Header | None = None) -> Scan:
        """Inverse of `to_state`. Raises StaleState for a state of another version or shape."""
        if state.get("v") != VERSION:
            raise StaleState("scan state of another version: read the log anew")
        scan = cls()
        try:
            scan.surface = Surface.from_json(state["surface"])
            scan.compactions = CompactionTracker.from_json(state["compactions"])
            scan.work = WorkState.from_json(state["work"])
            scan.damaged = state["damaged"]
            scan.tools = dict(state["tools"])
        except (AttributeError, KeyError, TypeError) as error:  # a shape that changed without its version
            raise StaleState(f"scan state that cannot be read: {error!r}") from error
        scan.start(header)
        return scan
