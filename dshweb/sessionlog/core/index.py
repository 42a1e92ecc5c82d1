"""The frame index: what is kept of each frame, so that any event can be read again without the rest of the log.

Rule: rule 4 of the house (the log is the truth, a frame index gives any event by seq).
"""

from __future__ import annotations

from typing import BinaryIO, Literal

import msgspec

from .accounting import Accounting
from .damage import DamageLog
from .events import Event
from .frames import FrameWalker
from .header import parse_header
from .limits import Limits
from .rows import RowReader
from .zframe import looks_compressed

BatchKind = Literal["data", "skippable", "torn", "corrupt", "refused", "junk", "plain", "tail"]


class FrameInfo(msgspec.Struct, frozen=True):
    """One frame of the index, or a run of frames that hold nothing (`joined`): all that is needed to read its events again
    without the rest of the log.

    `kind` is as in `Frame`, "plain" for a stretch of an uncompressed log, "tail" for a last row without line end.
    `first_seq` and `last_seq` are the smallest and the largest in it, None when it has no event.
    `rows` counts the lines that end in it (header apart), `first_row` is the number of the first. `next_seq` is the seq
    expected at its start. Its first row begins `carry_skip` decoded bytes into the frame at `carry_offset` (None: in
    this frame); `carried` bytes of it lie before this frame. A `provisional` frame is read again when the log grew.
    """

    offset: int
    length: int
    kind: BatchKind
    first_seq: int | None
    last_seq: int | None
    rows: int
    events: int
    decoded_bytes: int
    first_row: int
    next_seq: int
    carry_offset: int | None = None
    carry_skip: int = 0
    carried: int = 0
    has_header: bool = False
    provisional: bool = False

    @property
    def unreadable(self) -> bool:
        """Whether rows that stood here are lost; those of a torn frame may still come."""
        return self.kind in ("corrupt", "refused", "junk")

    code: str = ""


def joined(left: FrameInfo, right: FrameInfo) -> FrameInfo | None:
    """One entry for two frames side by side that hold nothing, so that an index does not grow with their number; else None."""
    if left.kind != right.kind or left.kind not in ("data", "skippable") or left.offset + left.length != right.offset:
        return None
    for info in (left, right):
        if info.rows or info.events or info.decoded_bytes or info.has_header or info.provisional or info.code:
            return None
    return msgspec.structs.replace(left, length=left.length + right.length)


class FrameBatch(msgspec.Struct, frozen=True):
    """One frame and the events of the rows that end in it."""

    frame: FrameInfo
    events: list[Event]


def decoded_between(source: BinaryIO, start: int, end: int, limits: Limits, *, compressed: bool = True) -> bytes:
    """Decoded bytes of the readable frames from offset `start` to `end`, which must be frame borders."""
    if not compressed:
        source.seek(start)
        return source.read(end - start)
    walker = FrameWalker(source, limits, start=start, size=end)
    return b"".join(frame.data for frame in walker if frame.kind in ("data", "torn"))


def read_events(source: BinaryIO, frame: FrameInfo, limits: Limits | None = None) -> list[Event]:
    """Events of one frame of the index, read at random: the same as in the batch that gave `frame`.

    Their `inherited` is always False (compare seqs with `inherited_before`). A frame that can no longer be decoded
    gives no events.
    """
    limits = limits or Limits()
    start = frame.offset if frame.carry_offset is None else frame.carry_offset
    end = frame.offset + frame.length
    data = decoded_between(source, start, end, limits, compressed=frame.kind != "plain" and _framed(source))
    if frame.carry_offset is not None:
        data = data[frame.carry_skip :]
    return parse_rows(
        data,
        first_row=frame.first_row,
        first_seq=frame.next_seq,
        has_header=frame.has_header,
        provisional=frame.provisional,
        unfinished=frame.kind == "tail",
        limits=limits,
    )


def parse_rows(
    data: bytes,
    *,
    first_row: int,
    first_seq: int | None,
    has_header: bool = True,
    provisional: bool = False,
    unfinished: bool = False,
    limits: Limits | None = None,
) -> list[Event]:
    """Events of decoded bytes that begin with a whole row: row number `first_row`, its first event `first_seq`.

    The header among them is passed over; with `has_header` False it is not among them, and another one is a row like
    any other. `unfinished`: take the last row although no line end follows it.
    """
    rows = RowReader(limits or Limits(), Accounting(rows=first_row), DamageLog())
    if not has_header:
        rows.header = parse_header({})
    rows.seen_line = first_row > 0
    rows.next_seq = first_seq or 0
    rows.provisional = provisional
    events = rows.feed(data, 0)
    return events + rows.finish(0, torn=True) if unfinished else events


def _framed(source: BinaryIO) -> bool:
    source.seek(0)
    return looks_compressed(source.read(64)) is not False
