"""A text cut for reading: pieces with what is marked in them, and of a long text its head and the lines around its marks.

Pure and general: a span is (start, end, anything), in code points of the text. Nothing is ever lost: the pieces of
`segments` and the intervals of `excerpt` join to the whole text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

WHOLE_CHARS, WHOLE_LINES = 2400, 28
HEAD_CHARS, HEAD_LINES = 480, 5
AROUND = 160
BUDGET = 4000
NEAR = 80
MOST = 24  # places shown of one text


@dataclass(frozen=True, slots=True)
class Piece(Generic[T]):
    """[start, end) of a text, and the items of the spans that lie on it, outermost first. Without items: plain text."""

    start: int
    end: int
    items: tuple[T, ...] = ()


@dataclass(frozen=True, slots=True)
class Interval:
    """[start, end) of a text; `shown` False: left out here."""

    start: int
    end: int
    shown: bool


def segments(spans: Iterable[tuple[int, int, T]], start: int, end: int) -> list[Piece[T]]:
    """The pieces of a text from `start` to `end`. Spans that overlap are one piece with all their items, the longest
    first; what of a span lies outside is cut off.
    """
    clipped = [(max(a, start), min(b, end), item) for a, b, item in spans if max(a, start) < min(b, end)]
    clipped.sort(key=lambda span: (span[0], -span[1]))
    pieces: list[Piece[T]] = []
    at = start
    for low, high, cluster in _clusters(clipped):
        if low > at:
            pieces.append(Piece(at, low))
        items = [item for _, _, item in sorted(cluster, key=lambda span: span[0] - span[1])]
        pieces.append(Piece(low, high, tuple(dict.fromkeys(items))))
        at = high
    if at < end:
        pieces.append(Piece(at, end))
    return pieces


def _clusters(spans: Sequence[tuple[int, int, T]]) -> list[tuple[int, int, list[tuple[int, int, T]]]]:
    found: list[tuple[int, int, list[tuple[int, int, T]]]] = []
    for span in spans:
        if found and span[0] < found[-1][1]:
            low, high, cluster = found[-1]
            cluster.append(span)
            found[-1] = (low, max(high, span[1]), cluster)
        else:
            found.append((span[0], span[1], [span]))
    return found


def excerpt(
    text: str, places: Sequence[tuple[int, int]], *, wanted: Sequence[tuple[int, int]] = (), budget: int = BUDGET
) -> list[Interval]:
    """What of `text` to show: all of a short one, else its head and the lines around `wanted` and then `places`, as far as
    `budget` characters go (of `wanted` the first place always).
    """
    if len(text) <= WHOLE_CHARS and text.count("\n") <= WHOLE_LINES:
        return [Interval(0, len(text), shown=True)] if text else []
    shown = [(0, _head(text))]
    left = budget - shown[0][1]
    for number, (start, end) in enumerate((*wanted, *places)):
        around = _around(text, start, end)
        if around[0] >= around[1] or any(a <= start and end <= b for a, b in shown):
            continue
        left -= around[1] - around[0]
        if (left < 0 or len(shown) > MOST) and not (wanted and number == 0):
            break
        shown.append(around)
    return _intervals(shown, len(text))


def _intervals(shown: list[tuple[int, int]], length: int) -> list[Interval]:
    """Shown and left out in turn; what is left out between two is more than NEAR characters."""
    joined: list[list[int]] = []
    for start, end in sorted(shown):
        if joined and start <= joined[-1][1] + NEAR:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([start, end])
    if length <= joined[-1][1] + NEAR:
        joined[-1][1] = length
    found: list[Interval] = []
    at = 0
    for start, end in joined:
        if start > at:
            found.append(Interval(at, start, shown=False))
        found.append(Interval(start, end, shown=True))
        at = end
    if at < length:
        found.append(Interval(at, length, shown=False))
    return found


def _head(text: str) -> int:
    at = 0
    for _ in range(HEAD_LINES):
        end = text.find("\n", at, HEAD_CHARS)
        if end < 0:
            return min(len(text), HEAD_CHARS)
        at = end + 1
    return at


def _around(text: str, start: int, end: int) -> tuple[int, int]:
    """The lines a span stands in, at most AROUND characters on each side of it."""
    start, end = max(0, start), min(len(text), end)
    low, high = max(0, start - AROUND), min(len(text), end + AROUND)
    line, line_end = text.rfind("\n", low, start), text.find("\n", end, high)
    return (low if line < 0 else line + 1, high if line_end < 0 else line_end + 1)
