"""Ships one log: hears what the server has, sends what is missing in pieces, and finds where both differ when they do.

What the server has is the only memory. Each piece says what stands before it, so bytes of different files are never mixed; a
file that was written anew is compared by digests of its beginnings, halving the distance, and sent from there. A log that is
there already costs one request and no reading on either side but of its end.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import BinaryIO, TypeVar

from dshweb.sessionlog.push.agreed import digest, digest_before
from dshweb.sessionlog.push.client import Client, Deleted, Elsewhere, Later, Refused, Smaller

PIECE = 4 << 20
LEAST_PIECE = 16 << 10  # a proxy that takes less takes nothing
NEAR = 64 << 10
FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
# pieces that did not fit, one after the other, before a log is given up: somebody else sends it too
PATIENCE = 6

T = TypeVar("T")


class GaveUp(Exception):
    """The server was not there for too long."""


class Ended(Exception):
    """This process was asked to end while it waited."""


@dataclass(frozen=True)
class Sent:
    """One log of `size` bytes. `status`: sent, unchanged, shorter (here than there), deleted (there) or failed (`reason`)."""

    path: Path
    status: str
    bytes: int = 0
    size: int = 0
    reason: str = ""


@dataclass(frozen=True)
class _Known:
    """What the server had when we last asked: so many bytes, which were ours; `tail` is the digest of the last of them."""

    size: int
    tail: str


class Sender:
    """`tries` in a row without an answer end the run; None: it goes on for ever. `say` hears of troubles, once each."""

    def __init__(
        self, client: Client, *, stop: Event, tries: int | None, say: Callable[[str], None],
        on_progress: Callable[[Path, int, int], None] = lambda *_: None, piece: int = PIECE,
    ) -> None:  # fmt: skip
        self.client, self.stop, self.tries, self.say, self.piece = client, stop, tries, say, piece
        self.on_progress = on_progress
        self._known: dict[Path, _Known] = {}

    def send(self, path: Path, folder: str, name: str) -> Sent:
        """Ships what is new. Raises client.Stop, GaveUp, Ended; anything else concerns this log only."""
        try:
            with path.open("rb") as source:
                return self._send(source, path, folder, name)
        except FileNotFoundError:
            return Sent(path, "failed", reason="the file is gone")
        except OSError as error:
            return Sent(path, "failed", reason=error.strerror or str(error))
        except (Refused, Smaller) as error:
            return Sent(path, "failed", reason=str(error))
        except Deleted:
            return Sent(path, "deleted")

    def _send(self, source: BinaryIO, path: Path, folder: str, name: str) -> Sent:
        end = _size(source)
        # the likeliest first: all of it is there, which one empty piece at its end finds out
        at, cut, sent, misfits = self._known_place(source, path, end), False, 0, 0
        while True:
            piece = _read(source, at, min(self.piece, end - at))
            before, offset, how = digest_before(source, at), at, cut
            try:
                at = self._patiently(
                    lambda: self.client.put(folder, name, piece, offset=offset, before=before, cut=how)  # noqa: B023
                )
                cut, sent, misfits = False, sent + len(piece), 0
            except Smaller:
                if len(piece) <= LEAST_PIECE:
                    raise
                self.piece = max(LEAST_PIECE, len(piece) // 2)
                continue
            except Elsewhere as told:
                misfits += 1
                if misfits > PATIENCE:
                    return Sent(path, "failed", sent, end, f"another sender changes it, too ({told})")
                end = _size(source)
                if told.size > end and self._same(source, folder, name, end):
                    return Sent(path, "shorter", sent, end)
                at, cut = told.size, False
                if told.different or told.size > end:
                    at, cut = self._fork(source, folder, name, min(told.size, end)), True
                elif offset < at <= offset + len(piece):
                    sent += at - offset  # the answer to this piece was lost, not the piece
                continue
            self.on_progress(path, at, end)
            if at >= end:
                end = _size(source)
                if at >= end:
                    break
            elif not piece:
                break  # it became shorter under us; the next look at it will tell
        self._known[path] = _Known(at, digest_before(source, at))
        return Sent(path, "sent" if sent else "unchanged", sent, end)

    def _known_place(self, source: BinaryIO, path: Path, end: int) -> int:
        known = self._known.pop(path, None)
        return known.size if known and known.size <= end and known.tail == digest_before(source, known.size) else end

    def _same(self, source: BinaryIO, folder: str, name: str, count: int) -> bool:
        there = self._patiently(lambda: self.client.look(folder, name, count))
        return there.first == count and there.sha256 == digest(source, 0, count)

    def _fork(self, source: BinaryIO, folder: str, name: str, most: int) -> int:
        """Up to where both are the same, or a little before it."""
        least = 0
        while most - least > NEAR:
            middle = (least + most) // 2
            if self._same(source, folder, name, middle):
                least = middle
            else:
                most = middle
        return least

    def _patiently(self, act: Callable[[], T]) -> T:
        """Tries until it is answered: pauses grow, with some chance in them, and are as long as the server asks at least."""
        tries = 0
        while True:
            try:
                return act()
            except Later as trouble:
                tries += 1
                if tries == 1:
                    self.say(f"{trouble}; trying again")
                if self.tries is not None and tries >= self.tries:
                    raise GaveUp(f"{trouble}; gave up after {tries} tries. What was sent stays; run it again") from None
                pause = min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(tries - 1, 10)) * random.uniform(0.6, 1.0)  # noqa: S311
                if self.stop.wait(max(pause, trouble.wait or 0)):
                    raise Ended from None


def _size(source: BinaryIO) -> int:
    return os.fstat(source.fileno()).st_size


def _read(source: BinaryIO, start: int, length: int) -> bytes:
    source.seek(start)
    return source.read(length)
