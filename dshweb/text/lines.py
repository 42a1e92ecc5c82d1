"""Hostile text made fit to show and to store: terminal escapes, invisible controls, long lines, NUL.

Rule: UI.md (ANSI escapes stripped, bidi overrides made visible, long text cut in the view only) and what PostgreSQL
refuses. Nothing here escapes HTML: the template does.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

# Linear in `re`: the classes of one alternative are disjoint and every end is optional, so nothing is tried twice.
# CSI, OSC/DCS/SOS/PM/APC up to their terminator or the end of the line, two-byte escapes; 8-bit CSI too.
_ANSI = (
    "\x1b\\[[0-?]*[ -/]*[@-~]?|\x9b[0-?]*[ -/]*[@-~]?|\x1b[\\]PX^_][^\x07\x1b\\n]*(?:\x07|\x1b\\\\)?|\x1b[ -/]*[0-~]?"
)
_ansi = re.compile(_ANSI)
_UNSAFE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
_STORE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Storable:
    """Text a database takes, and how many characters of it stand as U+FFFD instead."""

    text: str
    replaced: int


def one_line(text: str) -> str:
    """The text as one line that is safe to print in a terminal: a name from a log must not move the cursor or fake a line."""
    return visible(text).replace("\n", " ⏎ ").replace("\t", " ")


def visible(text: str) -> str:
    """The text without terminal escapes; other invisible controls as `⟦U+202E⟧`.

    Tabs, line feeds and carriage returns before a line feed stay, and so do U+200C, U+200D and U+FE0F, which scripts
    and emoji need. A lone carriage return becomes a line feed: it would hide what stands before it.
    """
    if text.isascii() and text.isprintable():
        return text
    if "\x1b" in text or "\x9b" in text:
        text = _ansi.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _UNSAFE.sub(lambda m: f"⟦U+{ord(m.group()):04X}⟧", text)


def cut(text: str, limit: int) -> tuple[str, int]:
    """At most `limit` characters from the beginning, and how many are hidden; a joined character is not split."""
    if len(text) <= limit:
        return text, 0
    end = max(0, limit)
    for _ in range(16):
        if 0 < end < len(text) and (text[end] in _JOINING or text[end - 1] == "\u200d"):
            end -= 1
        else:
            break
    return text[:end], len(text) - end


_JOINING = frozenset("\u200d\ufe0f\u20e3") | {chr(c) for c in (*range(0x300, 0x370), *range(0x1F3FB, 0x1F400))}


def is_storable(text: str) -> bool:
    """Whether a database takes the text as it is."""
    if "\x00" in text:
        return False
    if text.isascii():
        return True
    try:  # many times faster than looking for surrogates with a pattern
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def storable(text: str) -> Storable:
    """The text with NUL and lone surrogates as U+FFFD, which PostgreSQL and UTF-8 files refuse otherwise."""
    if is_storable(text):
        return Storable(text, 0)
    fixed, replaced = _STORE.subn("\ufffd", text)
    return Storable(fixed, replaced)


def storable_name(text: str, limit: int) -> str:
    """A text that tells things apart, such as a path, storable and of at most `limit` characters (more than 17).

    What had to be changed ends in a digest of the whole, so that different texts stay different.
    """
    fitting = storable(text[:limit]).text
    if fitting == text:
        return text
    mark = "#" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return fitting[: limit - len(mark)] + mark
