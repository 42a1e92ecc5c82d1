"""Frames of a compressed log, one after the other, each decoded on its own exact slice.

Rules: SESSION-LOG §2 (a log is a chain of independent checksummed frames), PERFORMANCE §1 (one frame at a time with one
decompressor; anything that is handed the tail of the file is quadratic or reads only the first frame).
Damage never stops the walk: a frame that fails to decode gives no bytes and the walk goes on behind it; where the
chain itself breaks, the next frame counts only if it is whole and its checksum agrees.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Final, Literal

import msgspec
import zstandard

from .decode import Decoder, RefusedError, why
from .limits import Limits
from .zframe import BAD, MAGIC, SHORT, Shape, is_skippable, measure, starts_frame

Kind = Literal["data", "skippable", "torn", "corrupt", "refused", "junk"]

WINDOW: Final = 1 << 20
RESYNC_FREE: Final = 16 << 20
RESYNC_FACTOR: Final = 8
CANDIDATE_COST: Final = (
    1 << 10
)  # bytes that one look at a candidate counts for, so that a file full of magic stays cheap


class Frame(msgspec.Struct, frozen=True):
    """One stretch of the file. `data` is what it decodes to (empty unless kind is data or torn).

    `code` and `detail` say what is wrong with it, empty when nothing is. A `provisional` stretch reaches the end of
    the file and may read differently once the log has grown: nothing behind its offset is settled.
    """

    offset: int
    length: int
    kind: Kind
    data: bytes = b""
    code: str = ""
    detail: str = ""
    provisional: bool = False


class FrameWalker:
    """Iterate over the frames of `source` from `start` to `size` (the file's end now, unless given).

    `resync_work` carries the bytes spent so far on candidates behind broken places: that work is bounded by the
    file's size, so hostile input stays linear. `read_bytes` counts bytes read. One iteration only.
    """

    def __init__(
        self, source: BinaryIO, limits: Limits, *, start: int = 0, size: int | None = None, resync_work: int = 0
    ) -> None:
        self.size = source.seek(0, 2) if size is None else size
        self.limits = limits
        self.decoder = Decoder(limits)
        self.resync_work = resync_work
        self.read_bytes = 0
        self._source = source
        self._start = start
        self._buf = b""
        self._base = 0

    def __iter__(self) -> Iterator[Frame]:
        pos = self._start
        decompress = self.decoder.fast
        while pos < self.size:
            # The usual frame, small and whole in the window, is handled right here: one call less a frame counts (P1).
            buf = self._buf
            i = pos - self._base
            if i >= 0 and buf.startswith(MAGIC, i):
                shape = measure(buf, i, len(buf))
                if i < shape.end and (data := decompress(buf, i, shape)) is not None:
                    length = shape.end - i
                    yield Frame(pos, length, "data", data)
                    pos += length
                    continue
            frame = self._frame_at(pos)
            yield frame
            pos = frame.offset + frame.length

    # ---- windows over the file

    def _load(self, pos: int, want: int) -> None:
        self._source.seek(pos)
        self._buf = self._source.read(min(want, self.size - pos))
        self._base = pos
        self.read_bytes += len(self._buf)
        if len(self._buf) < min(want, self.size - pos):  # the file shrank under us
            self.size = pos + len(self._buf)

    def _at(self, pos: int, need: int) -> int:
        """Index of `pos` in the window, with `need` bytes behind it unless the file ends before."""
        i = pos - self._base
        if i >= 0 and (i + need <= len(self._buf) or self._base + len(self._buf) >= self.size):
            return i
        self._load(pos, max(WINDOW, need))
        return 0

    def _shape(self, pos: int) -> Shape:
        """Shape of the frame at `pos`, offsets relative to `pos`; the whole frame is in the window when it fits."""
        i = self._at(pos, 18)
        while True:
            shape = measure(self._buf, i, len(self._buf))
            if shape.end != SHORT or self._base + len(self._buf) >= self.size:
                return shape._replace(end=shape.end - i if shape.end >= 0 else shape.end, walked=shape.walked - i)
            held = len(self._buf) - i
            if held >= self.limits.slice_bytes:
                return self._far_shape(pos)
            self._load(pos, max(WINDOW, 2 * held))
            i = 0

    def _far_shape(self, pos: int) -> Shape:
        """Shape of a frame too long to hold: block headers are read one window after the other."""
        shape = measure(self._buf, pos - self._base, len(self._buf))
        p = self._base + shape.walked
        checksum = 4 if shape.checksum else 0
        while True:
            if p + 3 > self.size:
                return Shape(SHORT, self.size - pos)
            i = self._at(p, 3)
            block = int.from_bytes(self._buf[i : i + 3], "little")
            size, kind = block >> 3, block >> 1 & 3
            if size > min(shape.window, 128 << 10) or kind == 3:
                return Shape(BAD, p - pos)
            p += 4 if kind == 1 else 3 + size
            if block & 1:
                end = p + checksum
                too_long = Shape(end - pos, end - pos, low=self.limits.frame_bytes + 1, high=1 << 62)
                return too_long if end <= self.size else Shape(SHORT, self.size - pos)

    def _piece(self, pos: int, length: int) -> memoryview:
        i = pos - self._base
        return memoryview(self._buf)[i : i + length]

    # ---- one frame

    def _frame_at(self, pos: int) -> Frame:
        i = self._at(pos, 18)
        buf = self._buf
        if buf.startswith(MAGIC, i):
            shape = measure(buf, i, len(buf))
            end = shape.end
            if end >= 0:  # the usual case: the frame lies in the window
                return self._decoded(pos, end - i, shape)
            if end == BAD:
                return self._broken(pos, "block or frame header is not valid")
            shape = self._shape(pos)
            if shape.end >= 0:
                return self._decoded(pos, shape.end, shape)
            if shape.end == BAD:
                return self._broken(pos, "block header is not valid")
            return self._torn(pos)
        if len(buf) - i >= 8 and is_skippable(buf, i):
            length = 8 + int.from_bytes(buf[i + 4 : i + 8], "little")
            if pos + length <= self.size:
                return Frame(pos, length, "skippable")
            return self._torn(pos)
        if starts_frame(buf[i : i + 4]):
            return self._torn(pos)
        return self._broken(pos, "no frame starts here", junk=True)

    def _decoded(self, pos: int, length: int, shape: Shape) -> Frame:
        try:
            piece = self._piece(pos, length)
            return Frame(pos, length, "data", self.decoder.whole(piece, shape))
        except RefusedError as error:
            return Frame(pos, length, "refused", b"", error.code, error.detail)
        except zstandard.ZstdError as error:
            code = "bad_checksum" if "checksum" in str(error) else "corrupt_frame"
            if not self._chain_goes_on(pos + length):
                # Its own block headers may be what is broken: the next true frame can lie inside its claimed length.
                self.resync_work += length
                length = (self._resync(pos, stop=pos + length) or pos + length) - pos
            return Frame(pos, length, "corrupt", b"", code, why(error))

    def _chain_goes_on(self, pos: int) -> bool:
        if pos >= self.size:
            return True
        i = self._at(pos, 4)
        return starts_frame(self._buf[i : i + 4])

    def _torn(self, pos: int) -> Frame:
        """The file ends inside this frame, or a broken header makes it look so."""
        found = self._resync(pos)
        if found is not None:
            return Frame(pos, found - pos, "corrupt", b"", "corrupt_frame", "its blocks run past the next whole frame")
        length = self.size - pos
        if length > self.limits.slice_bytes:
            return Frame(pos, length, "refused", b"", "limit_frame", "unfinished frame too long", provisional=True)
        i = self._at(pos, length)
        data = b""
        detail = "the file ends inside the frame"
        if self._buf.startswith(MAGIC, i):
            shape = measure(self._buf, i, len(self._buf))
            try:
                self.decoder.admit(shape, length)
                data = self.decoder.prefix(self._piece(pos, length))
            except RefusedError as error:
                return Frame(pos, length, "refused", b"", error.code, error.detail, provisional=True)
            except zstandard.ZstdError as error:
                return Frame(pos, length, "torn", b"", "torn_tail", f"{detail}; {why(error)}", provisional=True)
        return Frame(pos, length, "torn", data, "torn_tail", detail, provisional=True)

    def _broken(self, pos: int, detail: str, *, junk: bool = False) -> Frame:
        kind: Kind = "junk" if junk else "corrupt"
        code = "junk_bytes" if junk else "corrupt_frame"
        found = self._resync(pos)
        if found is not None:
            return Frame(pos, found - pos, kind, b"", code, detail)
        if junk and pos == 0:
            code, detail = "not_zstd", "no Zstandard frame in the file"
        return Frame(pos, self.size - pos, kind, b"", code, f"{detail}, nor a whole one behind", provisional=True)

    # ---- behind a broken place

    def _resync(self, broken: int, stop: int | None = None) -> int | None:
        """Offset of the next whole frame behind `broken` that decodes with a valid checksum, or None.

        Only frames that start before `stop` (default: the end of the file) count.
        """
        pos = broken + 1
        last = self.size - len(MAGIC) if stop is None else stop - 1
        while pos <= last:
            i = self._at(pos, len(MAGIC))
            hit = self._buf.find(MAGIC, i)
            if hit < 0:
                pos = max(pos, self._base + len(self._buf) - len(MAGIC) + 1)
                if self._base + len(self._buf) >= self.size:
                    return None
                continue
            pos = self._base + hit
            if pos > last:
                return None
            before = self.read_bytes
            if self._is_whole(pos):
                return pos
            self.resync_work += self.read_bytes - before
            if self.resync_work > RESYNC_FREE + RESYNC_FACTOR * pos:
                return None
            pos += 1
        return None

    def _is_whole(self, pos: int) -> bool:
        shape = self._shape(pos)
        self.resync_work += CANDIDATE_COST + shape.walked
        if shape.end < 0 or not shape.checksum:
            return False
        self.resync_work += shape.end
        try:
            self.decoder.whole(self._piece(pos, shape.end), shape)
        except (RefusedError, zstandard.ZstdError):
            return False
        return True


def read_frame(source: BinaryIO, offset: int, length: int, limits: Limits | None = None) -> bytes:
    """Decoded bytes of the one frame at `offset`, `length` bytes long, as a frame index names it.

    Raises ValueError when no whole, valid frame within the limits stands there.
    """
    limits = limits or Limits()
    if length > limits.slice_bytes:
        raise ValueError(f"frame at byte {offset}: longer than the limit")
    source.seek(offset)
    piece = source.read(length)
    shape = measure(piece, 0, len(piece)) if piece.startswith(MAGIC) else Shape(BAD, 0)
    if len(piece) != length or shape.end != length:
        raise ValueError(f"no frame of {length} bytes at byte {offset}")
    try:
        return Decoder(limits).whole(memoryview(piece), shape)
    except (RefusedError, zstandard.ZstdError) as error:
        raise ValueError(f"frame at byte {offset}: {why(error)}") from error
