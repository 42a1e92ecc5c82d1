"""One POSIX-style path from its first segment on: where it ends, its segments, whether it may count.

Rules: COMPACTION-AUDIT §4 (segment characters, CJK, trim) and AUDIT-REFINEMENTS §2.3 (CJK cut, brackets, placeholders).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from audit.core.facts.brackets import first_unmatched
from audit.core.facts.chars import EXTENSIONS, HAN, HAN_RE, ROOTS, is_han

EXT_RE = re.compile(r"\.([A-Za-z][A-Za-z0-9]{0,11})\Z")
_ASCII_EXT_END = re.compile(r"\.[A-Za-z0-9]{1,12}\Z")
_EXT_BEFORE_HAN = re.compile(rf"\.([A-Za-z0-9]{{1,12}})(?=[{HAN}])")
_ASCII_THEN_HAN = re.compile(rf"(?<=[\x21-\x7e])[{HAN}]")
_JOINERS = "和与或及到至"
_BAD = re.compile(r"[$<>%=]|\.\.\.|…")
_SIMPLE = re.compile(r"[A-Za-z0-9_@+-][A-Za-z0-9_@+.-]*(?:/+[A-Za-z0-9_@+.-]+)*/*")
_SEGMENT = re.compile(r"[^/\\]+")
_SLASHES = re.compile(r"/+")
_POSITION = re.compile(r"(?::[0-9]{1,7}){1,2}(?![0-9])|\([0-9]+(?:, ?[0-9]+)?\)")
_LINE_SUFFIX = re.compile(r"\([0-9]+\)\Z")


@dataclass(slots=True)
class Tail:
    """`end` of the path, its segments; `cut` when it stopped inside the run; `mask_end` includes position suffixes."""

    end: int
    segments: list[str]
    bad: bool
    cut: bool
    mask_end: int


def tail(text: str, start: int, stop: int) -> Tail:
    """Read segments from `start` (a first segment) up to `stop`, the end of the run. Linear in what it consumes."""
    m = _SIMPLE.match(text, start, stop)
    if m is not None and m.end() == stop:
        segments = [s for s in m.group().split("/") if s]
        return _trimmed(text, Tail(stop, segments, "..." in m.group(), cut=False, mask_end=stop))
    segments = []
    bad = cut = False
    at = end = start
    while at < stop:
        s = _SEGMENT.match(text, at, stop)
        if s is None:
            break
        whole = s.group()
        step = _SLASHES.match(text, s.end(), stop)
        segment = _cut(whole, text, step, stop)
        if _BAD.search(segment):
            bad = True
        if segment:
            segments.append(segment)
            end = at + len(segment)
        if len(segment) < len(whole):
            cut = True
            break
        if step is None:
            break
        end = at = step.end()
    return _trimmed(text, Tail(end, segments, bad, cut=cut or end < stop, mask_end=end))


def _cut(segment: str, text: str, step: re.Match[str] | None, stop: int) -> str:
    """The part of a segment that belongs to the path; `step` is the separator behind it."""
    segment = segment[: first_unmatched(segment)]
    if segment.isascii() or not HAN_RE.search(segment):
        return segment
    for e in _EXT_BEFORE_HAN.finditer(segment):
        if e.group(1).lower() in EXTENSIONS:
            return segment[: e.end()]
    if step is not None:
        if segment[-1] in _JOINERS and len(segment) > 1:
            following = _SEGMENT.match(text, step.end(), stop)
            root = following is not None and _first_word(following.group()) in ROOTS
            if root or not is_han(segment[-2]):
                return segment[:-1]
        return segment
    if is_han(segment[0]) or _ASCII_EXT_END.search(segment):
        return segment
    h = _ASCII_THEN_HAN.search(segment)
    return segment[: h.start()] if h else segment


_WORD = re.compile(r"[A-Za-z]+")


def _first_word(segment: str) -> str:
    m = _WORD.match(segment)
    return m.group() if m else ""


def starts_at_root(text: str, at: int, stop: int) -> bool:
    """True when a well-known root directory begins at `at` (what follows it may be glued Han)."""
    m = _WORD.match(text, at, stop)
    if m is None or m.group() not in ROOTS:
        return False
    return m.end() >= stop or text[m.end()] == "/" or is_han(text[m.end()])


def _trimmed(text: str, t: Tail) -> Tail:
    """Trailing punctuation, anchors and position suffixes are not part of a path."""
    if not t.segments:
        return t
    last = t.segments[-1]
    open_end = text[t.end - 1] == "/"
    if not open_end:
        keep = last
        hash_at = keep.find("#")
        if hash_at > 0 and (has_extension(keep[:hash_at]) or keep.startswith("#L", hash_at)):
            keep = keep[:hash_at]
        suffix = _LINE_SUFFIX.search(keep)
        if suffix and has_extension(keep[: suffix.start()]):
            keep = keep[: suffix.start()]
        if keep == "." and len(t.segments) > 1:  # `see /mnt/runs/.`: the full stop of the sentence
            t.segments.pop()
            t.end -= 1
            return t
        if keep.strip("."):
            keep = keep.rstrip(".!&~^") or keep
        t.end -= len(last) - len(keep)
        t.segments[-1] = keep
    return t


def has_extension(name: str) -> bool:
    """True for `x.ext` with an extension that starts with a letter, and for dot files."""
    return EXT_RE.search(name) is not None


def canon(segments: list[str], lead: str) -> str:
    """`lead` is "/", "~/" or ""."""
    return lead + "/".join(segments)


def mask_after(text: str, end: int) -> int:
    """Where a mask ends that covers a path up to `end`: behind a position suffix, if there is one."""
    suffix = _POSITION.match(text, end)
    return suffix.end() if suffix else end
