"""Relative paths with backslashes: `src\\win\\a.cs`, and what looks like one and is an escape or a regular expression."""

from __future__ import annotations

import re
from collections.abc import Collection

from audit.core.facts.bare import Found, bare_names
from audit.core.facts.chars import EXTENSIONS, PATH_MARKERS, is_han, is_word
from audit.core.facts.posix import Tail, has_extension, mask_after, tail

_WIDEST = 4096  # code points of one backslash path that are looked at
_PLAIN_FIRST = re.compile(r"[\w.@+~-]+\Z")


def backslashed(out: Found, at: int, start: int, sep: re.Match[str], stop: int, markers: Collection[str]) -> int:
    r"""`src\win\a.cs`; returns beyond the separator when it is an escape or a regular expression instead."""
    text = out.text
    q = sep.start()
    while start < q and is_han(text[start]):
        start += 1
    head = text[start:q]
    skip = sep.end() + (1 if text[sep.end() : sep.end() + 1] in ("n", "r", "t") else 0)
    if not head or not _PLAIN_FIRST.match(head) or is_word(text[start - 1] if start else " "):
        bare_names(out, at, q, run_start=at)
        return min(skip, stop)
    window = min(stop, start + _WIDEST)
    slash = text.find("/", q, window)
    if slash >= 0:  # mixed: what stands before the slash is escapes; go on behind the last of them
        bare_names(out, at, q, run_start=at)
        last = text.rfind("\\", q, slash) + 1
        return min(last + (text[last : last + 1] in ("n", "r", "t")), stop)
    body = text[start:window]
    segments = [s for s in body.replace("\\\\", "\\").split("\\") if s]
    joined = "/".join(segments)
    t = tail(joined, 0, len(joined))
    if not _win_rel_counts(t, markers):
        bare_names(out, at, window, run_start=at)
        return window
    # The tail was read on a copy with single slashes; find the same number of characters in the text itself.
    end = _same_end(text, start, len("/".join(t.segments)))
    out.add("file_path", start, end, "/".join(t.segments), mask_after(text, end))
    return end


def _win_rel_counts(t: Tail, markers: Collection[str]) -> bool:
    s = t.segments
    if len(s) < 2 or t.bad or any(x.startswith(".") for x in s[1:] if x != ".."):
        return False
    ext = s[-1].rpartition(".")[2].lower() if has_extension(s[-1]) else ""
    if ext in EXTENSIONS or s[0] in (".", ".."):
        return True
    return (s[0] in PATH_MARKERS or s[0] in markers) and all(len(x) > 1 for x in s[1:])


def _same_end(text: str, start: int, length: int) -> int:
    """End of the span that holds `length` characters when each run of backslashes counts as one."""
    at, left = start, length
    while left and at < len(text):
        at += 1
        if text[at - 1] != "\\" or (at < len(text) and text[at] != "\\"):
            left -= 1
    return at
