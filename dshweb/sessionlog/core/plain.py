"""Stretches of whole lines of a log that is not compressed, read in windows. Rule: SESSION-LOG §1 (`.jsonl`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Final

from .frames import Frame
from .limits import Limits

STRETCH: Final = 256 << 10


class PlainWalker:
    """Iterate over stretches that end in a line end; the last one may not. Offers what `FrameWalker` offers."""

    resync_work = 0

    def __init__(self, source: BinaryIO, limits: Limits, *, start: int, size: int) -> None:
        self.size = size
        self.read_bytes = 0
        self._source = source
        self._limits = limits
        self._start = start

    def __iter__(self) -> Iterator[Frame]:
        pos = self._start
        want = STRETCH
        while pos < self.size:
            self._source.seek(pos)
            data = self._source.read(min(want, self.size - pos))
            self.read_bytes += len(data)
            if not data:  # the file shrank under us
                self.size = pos
                return
            end = data.rfind(b"\n") + 1
            if pos + len(data) >= self.size and end < len(data):
                if end:
                    yield Frame(pos, end, "data", data[:end])
                # The row may still be in the making: it reads differently once the log has grown.
                yield Frame(pos + end, len(data) - end, "data", data[end:], provisional=True)
                return
            if not end and len(data) <= self._limits.row_bytes:
                want *= 2
                continue
            want = STRETCH
            data = data[: end or len(data)]
            yield Frame(pos, len(data), "data", data)
            pos += len(data)
