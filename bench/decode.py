"""P1 and P2: the frame walk against a bare loop over frames already cut, and its growth with the log's size."""

from __future__ import annotations

from pathlib import Path

import zstandard

from bench.corpora import Corpus, corpus, slices
from bench.measure import Pairs, Row, interleaved, row, timed
from dshweb.sessionlog.core.frames import FrameWalker
from dshweb.sessionlog.core.limits import Limits


def ours(path: Path) -> int:
    """Decoded bytes of a log as the product reads it: windows of the file, structure, limits, checksums."""
    with path.open("rb") as source:
        return sum(len(frame.data) for frame in FrameWalker(source, Limits()))


def bare(path: Path, cuts: list[tuple[int, int]], room: int) -> int:
    """The same bytes by one decompressor, frame by frame; the cuts and the room a frame needs are given to it."""
    data = path.read_bytes()
    decompress = zstandard.ZstdDecompressor().decompress
    return sum(len(decompress(data[at : at + length], max_output_size=room)) for at, length in cuts)


def _peer(log: Corpus) -> tuple[list[tuple[int, int]], int]:
    data = log.path.read_bytes()
    cuts = slices(data)
    largest = max(
        len(zstandard.ZstdDecompressor().decompress(data[at : at + length], max_output_size=64 << 20))
        for at, length in cuts
    )
    return cuts, 1 << (largest - 1).bit_length()


def p1() -> list[Row]:
    log = corpus("L12")
    cuts, room = _peer(log)
    assert ours(log.path) == bare(log.path, cuts, room) == log.plain
    figures = interleaved(timed(lambda: ours(log.path), 9), timed(lambda: bare(log.path, cuts, room), 9), warm=2)
    pairs = Pairs(figures[0], figures[1])
    return [
        row(
            "P1",
            "decode a log (L12) : bare per-frame python-zstandard loop, frames given",
            pairs,
            must=1.3,
            stretch=1.1,
        )
    ]


def p2() -> list[Row]:
    small, large = corpus("L12"), corpus("L100")
    figures = interleaved(timed(lambda: ours(large.path), 2), timed(lambda: ours(small.path), 9))
    bytes_ratio = large.plain / small.plain
    note = f"time ratio over bytes ratio {bytes_ratio:.2f}"
    pairs = Pairs(figures[0], figures[1])
    return [
        row("P2", "decode grows with bytes: L100 : L12", pairs, must=1.25, stretch=1.1, scale=bytes_ratio, note=note)
    ]
