"""Taking the value after a key word: quoted by any quotes, escaped ones too, or a run up to a space or a stop sign.

All offsets are bytes. What is looked at for one value is bounded, so that refused values cost little.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .redact_spans import NOWHERE, compiled, finder

WINDOW = 160  # bytes of a value that are judged
QUOTED = 4096  # how far a closing quote is looked for
STOPS = " \\t\\r\\n\"'`<>\\\\，。；、！？）】」』”’》「『“‘《（【"

_run = finder(compiled(f"[^{STOPS}]*"), here=True)
_cut = finder(compiled("[,;&)}|][,;&)}|\\]]*(?:[ \\t]*[A-Za-z_][\\w.-]*[\"']?[ \\t]*[:=(]|[ \\t]*$|[ \\t])"))
_ends_value = re.compile(b"[,;&)}|]")
_CLOSING = {
    '"': '"',
    "'": "'",
    "`": "`",
    "「": "」",
    "『": "』",
    "“": "”",
    "‘": "’",
    "《": "》",
    "【": "】",
    "”": "”",
    "’": "’",
}
_OPEN = {o.encode(): c.encode() for o, c in _CLOSING.items()}
_QUOTES = frozenset(o.encode()[0] for o in _CLOSING)
_TRIM = tuple(c.encode() for c in ",.;:?)]}，。；：！？）")


@dataclass(frozen=True, slots=True)
class Value:
    """Bytes `start` to `end` hold the value; `text` is its beginning, at most WINDOW bytes."""

    start: int
    end: int
    text: str
    quoted: bool
    goes_on: bool = False

    def last(self, data: bytes) -> int:
        """Where the value really ends: asked only when it is masked, since finding out may take the whole text."""
        return _run(data, self.end, len(data))[0][1] if self.goes_on else self.end


def first_byte(data: bytes, end: int) -> int:
    """Where the character begins whose last byte is before `end`."""
    at = end - 1
    while data[at] & 0xC0 == 0x80:
        at -= 1
    return at


def take(data: bytes, at: int) -> Value:
    """The value that begins at `at`: quoted (any quotes, escaped ones too) or a run up to a space or a stop sign."""
    slashes = at
    while slashes < at + 8 and data[slashes : slashes + 1] == b"\\":
        slashes += 1
    if data[slashes] not in _QUOTES:
        return bare(data, at)
    for opening, closing in _OPEN.items():
        if data.startswith(opening, slashes):
            return _quoted(data, slashes + len(opening), data[at:slashes] + closing)
    return bare(data, at)


def _quoted(data: bytes, start: int, closing: bytes) -> Value:
    limit = min(len(data), start + QUOTED)
    at = start
    while True:
        end = data.find(closing, at, limit)
        if end < 0:
            return bare(data, start, quoted=True)
        back = end
        while back > start and data[back - 1 : back] == b"\\":
            back -= 1
        if (end - back) % 2 == 0:
            break
        at = end + 1
    return Value(start, end, data[start : min(end, start + WINDOW)].decode("utf-8", "replace"), quoted=True)


def bare(data: bytes, start: int, *, quoted: bool = False) -> Value:
    """The run that begins at `start`; in `a=b,c=d` and `f(a=b)` it ends before the next name or the closing sign."""
    end = _run(data, start, min(len(data), start + WINDOW))[0][1]
    whole = end == start + WINDOW
    if not quoted and _ends_value.search(data, start, end) is not None:
        cut = _cut(data[start:end], 0, end - start)[0]
        if cut != NOWHERE:
            end = start + cut[0]
            whole = False
    if whole:
        return Value(start, end, data[start:end].decode("utf-8", "replace"), quoted, goes_on=True)
    while data.endswith(_TRIM, start, end):
        end -= 1
        while data[end] & 0xC0 == 0x80:
            end -= 1
    return Value(start, end, data[start:end].decode("utf-8", "replace"), quoted)
