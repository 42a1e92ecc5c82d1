"""Events of a stored log by seq, masked, and what a compaction's audit needs of them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from types import TracebackType
from typing import BinaryIO

import msgspec

from dshweb.sessionlog.core.authors import author_of
from dshweb.sessionlog.core.events import Event
from dshweb.sessionlog.core.index import FrameInfo, read_events
from dshweb.sessionlog.core.leaves import Leaf, Ledger
from dshweb.sessionlog.core.ledger import build_ledger, summary_texts
from dshweb.sessionlog.core.messages import Message as ParsedMessage
from dshweb.sessionlog.core.surface import SURFACE_TYPES
from dshweb.sessionlog.core.toolargs import arguments_text
from dshweb.sessionlog.models import Compaction, Frame, LogFile, Message
from dshweb.sessionlog.services import store
from dshweb.sessionlog.services.masking import masker_for
from dshweb.sessionlog.services.projection import masked
from dshweb.sessionlog.services.rows import FRAME_COLUMNS
from dshweb.sessionlog.services.steps import limits

CACHE_BYTES = 24 << 20
_WALKED = frozenset({"source", "compactionId", "shadowedSeqs"})
_NAMING = frozenset({"user/message", "compaction/summary"})
_NULL = msgspec.Raw(b"null")


@dataclass(frozen=True)
class Summary:
    """A summary with its ledger and masked leaves, the working directory then, and where to look for what the leaves lack."""

    seq: int
    time: int | None
    cwd: str | None
    texts: tuple[str, ...]
    ledger: Ledger
    leaves: tuple[Leaf, ...]
    state: Callable[[], Iterable[str]]
    system: Callable[[], Iterable[str]]
    earlier: Callable[[], Iterable[str]]


class LogEvents:
    """Reads events by seq through the frame index; decoded frames are kept up to a bound. Use as a context manager."""

    def __init__(self, log: LogFile) -> None:
        self.log = log
        self.cwd = log.work.get("cwd") or None
        self.masker = masker_for(log.team_id)
        self._exit = ExitStack()
        self._source: BinaryIO | None = None
        self._frames: OrderedDict[int, tuple[int, dict[int, Event]]] = OrderedDict()
        self._kept = 0
        self._limits = limits()
        self._parsed: dict[int, ParsedMessage] = {}
        self._leaves: dict[int, Leaf] = {}
        self._skeletons: dict[int, Event] = {}
        self._others: dict[int, str] = {}
        self._others_size = 0

    def __enter__(self) -> LogEvents:
        self._source = self._exit.enter_context(store.opened(self.log.stored))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._exit.close()

    def get(self, seq: int) -> Event | None:
        """The event of `seq` with its message masked; where a damaged log has a seq twice, the first one. None: not there."""
        for info in self._index.holding(seq):
            event = self._events(info).get(seq)
            if event is not None:
                return event
        return self._by_position(seq) if self._index.left_out else None

    def _by_position(self, seq: int) -> Event | None:
        """The surface event of `seq` in a log too disorderly for bisection: its row says where it stands."""
        rows = Message.unscoped.filter(log=self.log, seq=seq).order_by("position")
        position = rows.values_list("position", flat=True).first()
        info = None if position is None else self._index.at(position)
        return None if info is None else self._events(info).get(seq)

    def summary(self, compaction: Compaction) -> Summary | None:
        """Everything the audit of `compaction` needs; None when its summary row cannot be read any more."""
        event = self.get(compaction.summary_seq) if compaction.summary_seq is not None else None
        if event is None or event.type != "compaction/summary":
            return None
        context, row = compaction.context, event.row

        def before(seq: int) -> Event | None:
            """What stood in the log when the summary came: a log that grows must not change what is made of it."""
            found = self._walked(seq)
            return found if found is not None and found.row < row else None

        ledger, leaves = build_ledger(
            event,
            before,
            summaries=self._summaries(compaction),
            span_ok=context.get("spanOk"),
            damaged=bool(context.get("damagedBefore")),
            log_format=self.log.format,
            tools=self._tools,
            turn_of=self._turns.get,
            known=self._parsed,
        )
        below = set(ledger.leaf_seqs)
        return Summary(
            seq=event.seq,
            time=event.time,
            cwd=context.get("cwd", self.cwd) or None,
            texts=tuple(self.masker.mask_text(text) for text in summary_texts(event)),
            ledger=ledger,
            leaves=tuple(self._leaves.setdefault(leaf.seq, leaf) for leaf in leaves),
            state=lambda: self._texts(context.get("stateSeqs", ())),
            system=lambda: self._texts(context.get("systemSeqs", ())),
            earlier=lambda: self._earlier(row, below),
        )

    def _walked(self, seq: int) -> Event | None:
        """The event of `seq` for a walk to the leaves. What an earlier walk parsed, or what can be no leaf, is only asked for
        its place and what it cites, so nested summaries read each frame once.
        """
        found = self._skeletons.get(seq)
        if found is not None:
            return found
        found = self.get(seq)
        if found is not None and (seq in self._parsed or _is_no_leaf(found)):
            self._skeletons[seq] = _skeleton(found)
        return found

    @cached_property
    def _index(self) -> FrameIndex:
        return FrameIndex(self.log)

    @cached_property
    def _with_secrets(self) -> frozenset[int] | None:
        """Seqs whose text was masked at import; None when that was done under other patterns, so that all are looked at."""
        if self.log.masking != self.masker.version:
            return None
        rows = Message.unscoped.filter(log=self.log, redactions__gt=0)
        return frozenset(rows.values_list("seq", flat=True))

    def _clean(self, event: Event) -> Event:
        known = self._with_secrets
        return event if known is not None and event.seq not in known else masked(event, self.masker)

    @cached_property
    def _tools(self) -> dict[str, str]:
        rows = Message.unscoped.filter(log=self.log, type="tool/result").exclude(tool="").order_by("-position")
        return dict(rows.values_list("call_id", "tool"))  # of equal ids the first in the log

    @cached_property
    def _turns(self) -> dict[int, int | None]:
        rows = Message.unscoped.filter(log=self.log, type="user/message").order_by("-position")
        return dict(rows.values_list("seq", "turn"))

    def _summaries(self, compaction: Compaction) -> dict[str, int]:
        rows = Compaction.unscoped.filter(log=self.log, summary_seq__isnull=False, position__lt=compaction.position)
        rows = rows.order_by("position")  # of equal ids the nearest before it
        return {key: seq for key, seq in rows.values_list("compaction_id", "summary_seq") if seq is not None}

    def _texts(self, seqs: Iterable[int]) -> Iterator[str]:
        """All of what these rows say, masked, as the strings of their data."""
        for seq in seqs:
            event = self.get(seq)
            if event is not None:
                yield arguments_text(self.masker.mask_json(event.value))

    def _earlier(self, row: int, leaves: set[int]) -> Iterator[str]:
        """Masked texts of the surface rows before row `row` that are not leaves."""
        positions, seqs = self._surface
        before = zip(positions[: bisect_left(positions, row)], seqs, strict=False)
        wanted = [position for position, seq in before if seq not in leaves]
        for at in range(0, len(wanted), 500):
            some = wanted[at : at + 500]
            missing = [position for position in some if position not in self._others]
            rows = Message.unscoped.filter(log=self.log, position__in=missing).values_list("position", "text")
            read = dict(rows) if missing else {}
            yield from filter(None, (self._others.get(position) or read.get(position) for position in some))
            self._keep(read)

    @cached_property
    def _surface(self) -> tuple[list[int], list[int]]:
        """Positions and seqs of all surface rows, in the order of the log."""
        rows = list(Message.unscoped.filter(log=self.log).order_by("position").values_list("position", "seq"))
        return [position for position, _ in rows], [seq for _, seq in rows]

    def _keep(self, texts: dict[int, str]) -> None:
        """Summaries ask for the same rows: the checkpoints before them. Kept up to a bound."""
        size = sum(map(len, texts.values()))
        if self._others_size + size <= CACHE_BYTES // 4:
            self._others_size += size
            self._others.update(texts)

    def _events(self, info: FrameInfo) -> dict[int, Event]:
        found = self._frames.get(info.offset)
        if found is not None:
            self._frames.move_to_end(info.offset)
            return found[1]
        assert self._source is not None, "use LogEvents as a context manager"  # noqa: S101
        events: dict[int, Event] = {}
        for event in read_events(self._source, info, self._limits):
            events.setdefault(event.seq, self._clean(event))
        self._frames[info.offset] = (info.decoded_bytes, events)
        self._kept += info.decoded_bytes
        while self._kept > CACHE_BYTES and len(self._frames) > 1:
            size, _gone = self._frames.popitem(last=False)[1]
            self._kept -= size
        return events


def _is_no_leaf(event: Event) -> bool:
    """Whether no summary can have this event as a leaf: it is off the surface, or stands for a summary itself."""
    if event.type == "user/message":
        return author_of(event.body.get("source")).is_checkpoint
    return event.type not in SURFACE_TYPES


def _skeleton(event: Event) -> Event:
    """The event with only what a walk to the leaves asks for: type, place, operation, citations, what names a compaction."""
    asked = {name: value for name, value in event.body.items() if name in _WALKED} if event.type in _NAMING else {}
    return msgspec.structs.replace(event, raw=_NULL, cached=asked, extra=None)


class FrameIndex:
    """Which frames may hold a seq, found by bisection.

    Frames lie in layers: in each, every frame's seqs are above those of the one before. An orderly log has one layer, one
    whose seqs start again has two. What would need more than LAYERS is `left_out` and found by the number of its rows only.
    """

    LAYERS = 64

    def __init__(self, log: LogFile) -> None:
        rows = Frame.unscoped.filter(log=log, events__gt=0).order_by("first_row", "offset").values_list(*FRAME_COLUMNS)
        self._layers: list[tuple[list[int], list[FrameInfo]]] = []
        self.left_out: list[FrameInfo] = []
        for row in rows.iterator(chunk_size=2000):
            info = FrameInfo(**dict(zip(FRAME_COLUMNS, row, strict=True)))
            if info.first_seq is None or info.last_seq is None:
                continue
            self._put(info, info.first_seq)

    def _put(self, info: FrameInfo, first: int) -> None:
        for starts, frames in self._layers:
            if first > (frames[-1].last_seq or 0):
                starts.append(first)
                frames.append(info)
                return
        if len(self._layers) < self.LAYERS:
            self._layers.append(([first], [info]))
        else:
            self.left_out.append(info)

    def at(self, position: int) -> FrameInfo | None:
        """The frame left out that holds row `position`."""
        near = bisect_right(self.left_out, position, key=lambda info: info.first_row)
        return self.left_out[near - 1] if near else None

    def holding(self, seq: int) -> Iterator[FrameInfo]:
        """In the order of the log."""
        near = [frames[at - 1] for starts, frames in self._layers if (at := bisect_right(starts, seq))]
        yield from sorted((info for info in near if seq <= (info.last_seq or 0)), key=lambda info: info.first_row)
