"""Places to mask in a text: made disjoint, kept off earlier replacements, put in over one or several pieces.

All offsets are bytes of the text as UTF-8 (lone surrogates passed through), as RE2 reports them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate

import re2

MARK = re.compile(rb"\[redacted:[a-z0-9-]{1,40}\]")
NOWHERE = (-1, -1)
Find = Callable[[bytes, int, int], Sequence[tuple[int, int]]]
UTF8 = ("utf-8", "surrogatepass")


def compiled(expression: str, *, captures: bool = True) -> re2._Regexp:
    """RE2 for UTF-8 bytes with room for a large automaton; with the usual 8 MiB it would fall back to slow ways."""
    options = re2.Options()
    options.max_mem = 64 << 20
    options.never_capture = not captures
    return re2.compile(expression.encode(), options)


def union(expressions: Iterable[str]) -> re2._Regexp:
    """One automaton that finds whether any of the expressions matches."""
    plain = (re.sub(r"[?]P<[a-z_]+>", "?:", e) for e in expressions)
    return compiled("|".join(f"(?:{e})" for e in plain), captures=False)


def finder(regexp: re2._Regexp, *, here: bool = False) -> Find:
    """`find(data, start, end)` gives the spans of the first match (of a match at `start` when `here`), or NONE.

    It asks RE2 straight, without google-re2's match objects, which cost more than a match; where a later version has
    other insides, the public way is taken.
    """
    inner = getattr(getattr(regexp, "_regexp", None), "Match", None)
    anchors = getattr(re2, "_Anchor", None)
    if inner is not None and anchors is not None:
        return partial(inner, anchors.ANCHOR_START if here else anchors.UNANCHORED)
    search = regexp.match if here else regexp.search

    def find(data: bytes, start: int, end: int) -> list[tuple[int, int]]:
        m = search(data, start, end)
        return [NOWHERE] if m is None else [m.span(i) for i in range(regexp.groups + 1)]

    return find


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes `start` to `end` are a secret of class `name`; a lower `rank` is the more specific class."""

    start: int
    end: int
    rank: int
    name: str


def replacement(name: str) -> str:
    """What stands in the text instead of a secret of that class."""
    return f"[redacted:{name}]"


def resolve(found: Iterable[Span], data: bytes) -> list[Span]:
    """Disjoint spans in order. Overlapping ones become one, named by the most specific.

    A span that covers nothing but earlier replacements goes, one that touches a replacement takes it whole: so every
    pass hides at least one more character, and masking ends.
    """
    marks = [m.span() for m in MARK.finditer(data)] if b"[redacted:" in data else []
    spans = _merge(sorted((s for s in found if s.end > s.start), key=lambda s: (s.start, -s.end, s.rank)))
    return _merge(_spare(spans, marks)) if marks else spans


def _merge(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for s in spans:
        if merged and s.start < merged[-1].end:
            last = merged[-1]
            best = min(last, s, key=lambda x: x.rank)
            merged[-1] = Span(last.start, max(last.end, s.end), best.rank, best.name)
        else:
            merged.append(s)
    return merged


def _spare(spans: list[Span], marks: list[tuple[int, int]]) -> list[Span]:
    out: list[Span] = []
    first = 0
    for s in spans:
        while first < len(marks) and marks[first][1] <= s.start:
            first += 1
        start, end, covered = s.start, s.end, 0
        for left, right in _upto(marks, first, s.end):
            covered += min(right, s.end) - max(left, s.start)
            start, end = min(start, left), max(end, right)
        if covered < s.end - s.start:
            out.append(Span(start, end, s.rank, s.name))
    return out


def _upto(marks: list[tuple[int, int]], first: int, end: int) -> Iterable[tuple[int, int]]:
    for i in range(first, len(marks)):
        if marks[i][0] >= end:
            return
        yield marks[i]


def back(text: str, narrow: bytes, spans: list[Span]) -> list[Span]:
    """Spans of a text whose characters were exchanged one by one (full width to ASCII), as spans of `text` itself."""
    points = {0: 0}
    known = chars = place = 0
    for offset in sorted({p for s in spans for p in (s.start, s.end)}):
        step = len(narrow[known:offset].decode(*UTF8))
        place += len(text[chars : chars + step].encode(*UTF8))
        chars += step
        known = offset
        points[offset] = place
    return [Span(points[s.start], points[s.end], s.rank, s.name) for s in spans]


def whole_characters(data: bytes, start: int, end: int) -> tuple[int, int]:
    """The range widened to character borders."""
    while 0 < start < len(data) and data[start] & 0xC0 == 0x80:
        start -= 1
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end += 1
    return start, end


def replace(pieces: Sequence[bytes], spans: list[Span]) -> list[bytes]:
    """The pieces of a joined text without the spans, each replacement in the piece where its span begins."""
    ends = list(accumulate(len(p) for p in pieces))
    out: list[list[bytes]] = [[] for _ in pieces]
    edits = [(s.start, s.end, replacement(s.name).encode()) for s in spans]
    edits.append((ends[-1] if ends else 0, 0, b""))
    at = i = 0
    for start, end, put in edits:
        while at < start:
            while ends[i] <= at:
                i += 1
            base = ends[i] - len(pieces[i])
            stop = min(start, ends[i])
            out[i].append(pieces[i][at - base : stop - base])
            at = stop
        if put:
            while ends[i] <= at:
                i += 1
            out[i].append(put)
            at = end
    return [b"".join(parts) for parts in out]
