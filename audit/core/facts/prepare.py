"""A text made ready for extraction, and the way back to its own offsets (COMPACTION-AUDIT §4, "Preparation").

NFC, without zero-width characters; numbers see full-width letters and digits folded. All of it is done so that an
offset in the prepared text can be mapped to code points of the text as given.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

from audit.core.facts.model import MAX_BLOCK

ZERO_WIDTH = "\u200b\u2060\ufeff"
MASK = "\x00"
_NO_ZERO_WIDTH = dict.fromkeys(map(ord, ZERO_WIDTH))

# Length-preserving part of NFKC that occurs in numbers: full-width ASCII letters, digits, % . $ - and the micro sign.
_WIDE = {
    c: c - 0xFEE0 for c in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B), 0xFF05, 0xFF0E)
}
_WIDE |= {0xFF04: ord("$"), 0xFF0D: ord("-"), 0x2212: ord("-"), 0xFFE5: ord("¥"), 0x3BC: ord("µ"), 0xFFE1: ord("£")}

_FOLDABLE = re.compile("[" + "".join(sorted(map(chr, _WIDE))) + "]")


class Prepared:
    """`text` is the prepared text; `origin` maps a span of it back to the text as given."""

    __slots__ = ("_ends", "_starts", "text")

    def __init__(self, given: str) -> None:
        if len(given) > MAX_BLOCK:
            given = given[:MAX_BLOCK]
        self.text = given
        self._starts: list[int] | None = None
        self._ends: list[int] | None = None
        if given.isascii():
            return
        if any(z in given for z in ZERO_WIDTH) or not unicodedata.is_normalized("NFC", given):
            self._map(given)

    def _map(self, given: str) -> None:
        """Normalise cluster by cluster (a character and the marks that may compose with it)."""
        bare = given.translate(_NO_ZERO_WIDTH)
        if bare.isascii() or (unicodedata.is_normalized("NFC", bare) and _clusters().search(bare) is None):
            self.text = bare  # nothing to compose: only the zero-width characters go
            self._starts = [at for at, c in enumerate(given) if c not in ZERO_WIDTH]
            self._ends = [at + 1 for at in self._starts]
            return
        out: list[str] = []
        starts: list[int] = []
        ends: list[int] = []

        def keep(made: str, start: int, end: int) -> None:
            out.append(made)
            if len(made) == end - start == 1:
                starts.append(start)
                ends.append(end)
            else:
                starts.extend([start] * len(made))
                ends.extend([end] * len(made))

        def plain(start: int, end: int) -> None:
            """Characters with nothing to compose with."""
            chunk = given[start:end]
            if chunk.isascii() or unicodedata.is_normalized("NFC", chunk):
                out.append(chunk)
                starts.extend(range(start, end))
                ends.extend(range(start + 1, end + 1))
                return
            for at in range(start, end):
                keep(unicodedata.normalize("NFC", given[at]), at, at + 1)

        at = len(given) - len(given.lstrip(ZERO_WIDTH))
        for m in _clusters().finditer(given, at):
            start, stop = m.span()
            if at < start:
                plain(at, start)
            at = stop
            piece = m.group().rstrip(ZERO_WIDTH)  # an invisible tail stays outside
            stop = start + len(piece)
            keep(unicodedata.normalize("NFC", piece.translate(_NO_ZERO_WIDTH)), start, stop)
        plain(at, len(given))
        self.text = "".join(out)
        self._starts, self._ends = starts, ends

    @property
    def mapped(self) -> bool:
        """True when the prepared text is not the text as given, which took work."""
        return self._starts is not None

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Code points of the text as given for the span start..end (end > start) of the prepared text."""
        if self._starts is None or self._ends is None:
            return start, end
        return self._starts[start], self._ends[end - 1]


@cache
def _clusters() -> re.Pattern[str]:
    """A character and the marks, vowel signs and Jamo behind it. Made once a text needs it: it asks for each code point.

    Zero-width characters are transparent: what they separate composes once they are dropped.
    """
    ranges: list[list[int]] = []
    for code in (*range(0x300, 0x20000), *range(0xE0000, 0xE0200)):
        c = chr(code)
        if c in ZERO_WIDTH or 0x1160 <= code <= 0x11FF or unicodedata.category(c)[0] == "M":
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return re.compile(".[" + "".join(f"{chr(a)}-{chr(b)}" for a, b in ranges) + "]+", re.DOTALL)


def fold(text: str) -> str:
    """The text with full-width digits, letters and signs as ASCII; the length does not change."""
    # `translate` copies character by character through a dict; the few wide ones are found ten times faster.
    return text if text.isascii() else _FOLDABLE.sub(lambda m: chr(_WIDE[ord(m.group())]), text)


def mask(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with the spans (any order, overlaps allowed) overwritten by MASK; the length does not change."""
    pieces: list[str] = []
    at = 0
    for start, end in sorted(spans):
        if end <= at:
            continue
        start = max(start, at)
        pieces.append(text[at:start])
        pieces.append(MASK * (end - start))
        at = end
    if not pieces:
        return text
    pieces.append(text[at:])
    return "".join(pieces)
