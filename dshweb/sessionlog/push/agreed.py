"""What both ends of a push agree on: of which bytes before a piece's offset the sender states the digest, and how it is made."""

from __future__ import annotations

import hashlib
from typing import IO

BEFORE_BYTES = 64 << 10
CHUNK = 1 << 20


def digest(source: IO[bytes], start: int, stop: int) -> str:
    """SHA-256 of bytes `start` … `stop`, hex; of those there are, when the source ends before."""
    found = hashlib.sha256()
    source.seek(start)
    left = stop - start
    while left and (chunk := source.read(min(CHUNK, left))):
        found.update(chunk)
        left -= len(chunk)
    return found.hexdigest()


def digest_before(source: IO[bytes], offset: int) -> str:
    """The same of the up to BEFORE_BYTES that stand before `offset`."""
    return digest(source, max(0, offset - BEFORE_BYTES), offset)
