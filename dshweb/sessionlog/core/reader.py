"""Read a session log frame by frame: events out, everything accounted, resumable after the log has grown.

Rules: SESSION-LOG §1 to §4, issue 2 section B. `read_log` is the entry; iterate once, then ask for header, accounting,
damage, status and `resume()`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Literal

from .accounting import Accounting
from .damage import Damage, DamageLog
from .events import Event
from .frames import Frame, FrameWalker
from .header import Header
from .index import BatchKind, FrameBatch, FrameInfo, decoded_between, parse_rows, read_events
from .limits import Limits
from .plain import PlainWalker
from .resume import Resume, StaleState
from .rows import RowReader
from .zframe import looks_compressed

Status = Literal["ok", "damaged", "unsupported", "failed"]


class LogReader:
    """Iterate over `FrameBatch`es. Members are up to date during the iteration and final after it."""

    def __init__(self, source: BinaryIO, *, compressed: bool | None, resume: Resume | None, limits: Limits) -> None:
        self._source = source
        self._limits = limits
        self._size = source.seek(0, 2)
        self._offset = 0
        self._resync_work = 0
        self._resume: Resume | None = None
        self._started = False
        self._torn = False
        self.accounting = Accounting()
        self._damage = DamageLog(limits.damage_entries)
        if resume is None:
            self._rows = RowReader(limits, self.accounting, self._damage)
            self.compressed = self._sniff(declared=compressed)
        else:
            try:
                self.accounting = Accounting(**resume.accounting)
                self._damage = DamageLog.from_json(resume.damage)
                self._rows = RowReader(limits, self.accounting, self._damage)
                self.compressed = resume.compressed
                self._load(resume)
            except (AttributeError, KeyError, TypeError) as error:  # a shape that changed without its version
                raise StaleState(f"resume state that cannot be read: {error!r}") from error
        self.walker: FrameWalker | PlainWalker
        if self.compressed:
            self.walker = FrameWalker(
                source, limits, start=self._offset, size=self._size, resync_work=self._resync_work
            )
        else:
            self.walker = PlainWalker(source, limits, start=self._offset, size=self._size)

    # ---- what has been read

    @property
    def header(self) -> Header | None:
        """The log's header, None when no header has been read."""
        return self._rows.header

    @property
    def format(self) -> int | None:
        """Format version by the header, None when unknown."""
        return None if self._rows.header is None else self._rows.header.version

    @property
    def damage(self) -> list[Damage]:
        """Findings in the order met, at most `Limits.damage_entries` of each code."""
        return self._damage.entries

    @property
    def damage_counts(self) -> dict[str, int]:
        """How many findings there are of each code, the ones not listed too."""
        return self._damage.counts

    @property
    def lost_row(self) -> int | None:
        """The row where rows were lost for the first time; None: none were, damaged frames apart."""
        return self._damage.lost_row

    @property
    def next_seq(self) -> int:
        """Seq that the next event should have."""
        return self._rows.next_seq

    @property
    def inherited_before(self) -> int | None:
        """Events with a smaller seq belong to the parent; None when no inherited prefix is known."""
        return self._rows.inherited_before

    @property
    def status(self) -> Status:
        """`failed`: nothing readable; `unsupported`: unknown version, best effort; `damaged`; `ok` (notes allowed)."""
        if not self.accounting.events and self.header is None:
            return "failed"
        if self.header is not None and not self.header.supported:
            return "unsupported"
        return "damaged" if self._damage.hurts else "ok"

    def resume(self) -> Resume:
        """State to go on from later; after the iteration, in front of an unfinished tail."""
        return self._resume or self._state()

    # ---- iteration

    def __iter__(self) -> Iterator[FrameBatch]:
        if self._started:
            raise RuntimeError("a log reader can be iterated once")
        self._started = True
        for frame in self.walker:
            if self.accounting.decoded_bytes > self._limits.log_bytes:
                self._resume = self._state()
                detail = f"more than {self._limits.log_bytes} bytes decoded, the rest is not read"
                self._damage.add("limit_log", offset=self._offset, detail=detail)
                break
            if frame.provisional:
                self._settle()
            batch = self._batch(frame)
            # before the yield: `resume()` in the middle of an iteration stands behind the frame just given
            self._offset = frame.offset + frame.length
            self._resync_work = self.walker.resync_work
            yield batch
        else:
            yield from self._finish()
        self.accounting.size = self.walker.size
        self.accounting.bytes_unread = self.walker.size - self._offset

    def _finish(self) -> Iterator[FrameBatch]:
        self._settle()
        if self.walker.size == 0:
            self._damage.add("empty_file", offset=0, detail="the file has no bytes")
        elif not self.compressed:
            self.accounting.frames = 1
        if self._rows.pending:
            offset, skip, before = self._rows.pending_offset, self._rows.pending_skip, self._rows.next_seq
            row, carried = self.accounting.rows, self._rows.pending_bytes
            headers = self.accounting.header_rows
            events = self._rows.finish(offset, torn=self._torn)
            info = FrameInfo(
                self._offset, 0, "tail", _first(events), _last(events), self.accounting.rows - row, len(events), 0, row,
                before, offset, skip, carried, self.accounting.header_rows > headers, provisional=True,
            )  # fmt: skip
            yield FrameBatch(info, events)

    def _settle(self) -> None:
        """What follows is provisional: keep the state to resume from, and go on with a copy."""
        if self._resume is None:
            self._resume = self._state()
            self._rows.provisional = True

    def _batch(self, frame: Frame) -> FrameBatch:
        rows, acc = self._rows, self.accounting
        carry_offset = rows.pending_offset if rows.pending else None
        carry_skip = rows.pending_skip if rows.pending else 0
        carried = rows.pending_bytes
        first_row, before, headers = acc.rows, rows.next_seq, acc.header_rows
        kind: BatchKind = frame.kind if self.compressed else "plain"
        events: list[Event] = []
        if frame.kind == "data":
            acc.frames += self.compressed
            acc.bytes_good += frame.length
            acc.decoded_bytes += len(frame.data)
            events = rows.feed(frame.data, frame.offset)
        elif frame.kind == "skippable":
            acc.skippable_frames += 1
            acc.bytes_skippable += frame.length
        else:
            acc.damaged_frames += 1
            acc.bytes_damaged += frame.length
            self._damage.add(frame.code, offset=frame.offset, detail=f"{frame.detail} ({frame.length} bytes)")
            if frame.kind == "torn":
                self._torn = True
                acc.decoded_bytes += len(frame.data)
                events = rows.feed(frame.data, frame.offset)
            else:
                rows.hit_damage(frame.offset)
        return FrameBatch(
            FrameInfo(
                frame.offset, frame.length, kind, _first(events), _last(events), acc.rows - first_row, len(events),
                len(frame.data), first_row, before, carry_offset, carry_skip, carried, acc.header_rows > headers,
                frame.provisional, frame.code,
            ),
            events,
        )  # fmt: skip

    # ---- state

    def _state(self) -> Resume:
        rows = self._rows
        return Resume(
            compressed=self.compressed,
            offset=self._offset,
            pending_offset=rows.pending_offset if rows.pending else None,
            pending_skip=rows.pending_skip if rows.pending else 0,
            resync_work=self._resync_work,
            rows=rows.to_json(),
            accounting=self.accounting.to_json(),
            damage=self._damage.to_json(),
        )

    def _load(self, resume: Resume) -> None:
        if self._size < resume.offset:
            raise StaleState(f"the log has shrunk to {self._size} bytes, it was read up to {resume.offset}")
        self._offset = resume.offset
        self._resync_work = resume.resync_work
        self._rows.load(resume.rows)
        if resume.pending_offset is not None:
            data = decoded_between(
                self._source, resume.pending_offset, resume.offset, self._limits, compressed=self.compressed
            )
            self._rows.feed(data[resume.pending_skip :], resume.pending_offset)
            self._rows.pending_skip = resume.pending_skip

    def _sniff(self, *, declared: bool | None) -> bool:
        """Whether the file is compressed, by its first bytes; a name that says otherwise is noted."""
        self._source.seek(0)
        found = looks_compressed(self._source.read(64))
        if found is None:
            return declared is not False
        if declared is not None and found != declared:
            note = "named as compressed, holds plain lines" if declared else "named as plain, holds Zstandard frames"
            self._damage.add("encoding_mismatch", offset=0, detail=note)
        return found


def read_log(
    source: BinaryIO, *, compressed: bool | None = None, resume: Resume | None = None, limits: Limits | None = None
) -> LogReader:
    """Reader over a seekable binary file, up to its size now. `compressed` is what the file's name says, if known.

    With `resume`, only what came after that state is read, and `header` has only `Header.rules`. Raises StaleState when
    there is no going on from `resume`, e.g. because the file is shorter than it says; nothing else about the content raises.
    """
    return LogReader(source, compressed=compressed, resume=resume, limits=limits or Limits())


def _first(events: list[Event]) -> int | None:
    return min((event.seq for event in events), default=None)


def _last(events: list[Event]) -> int | None:
    return max((event.seq for event in events), default=None)


__all__ = ["FrameBatch", "FrameInfo", "LogReader", "Status", "parse_rows", "read_events", "read_log"]
