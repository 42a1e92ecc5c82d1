"""POSIX and relative paths and bare file names in maximal runs of path characters (COMPACTION-AUDIT §4, §8 "Measured trap").

A scan jumps from separator to separator (or `.x`), widens each to its run, and reads the run from left to right;
every step consumes what it looked at, so a text costs linear time whatever it holds.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from urllib.parse import unquote

from audit.core.facts.backslashed import backslashed
from audit.core.facts.bare import Found, bare_names
from audit.core.facts.chars import (
    DELIMS,
    EXTENSIONS,
    HAN_RE,
    PATH_MARKERS,
    RUN_RE,
    is_han,
    is_word,
    words,
)
from audit.core.facts.model import MAX_FACTS, MAX_RUN
from audit.core.facts.posix import Tail, canon, has_extension, mask_after, starts_at_root, tail
from audit.core.facts.reach import PATH_WEIGHT, Reach
from audit.core.facts.relative import TAG, counts, outside, two_names

_MARK = re.compile(r"/|\\|\.[A-Za-z]")
_OPENER = re.compile(r"[=(\[{]")
_SEP = re.compile(r"[/\\]+")
_PROSE_TAGS = words("br li p td th code pre b i em strong span div kbd path file")


def paths(text: str, file_urls: Collection[int], markers: Collection[str], reach: Reach) -> Found:
    """Facts and spans to mask. `file_urls`: offsets where a path of a `file://` URL begins."""
    out = Found(text)
    done = 0
    for _ in reach.turns(PATH_WEIGHT):
        m = _MARK.search(text, done)
        if m is None:
            return out
        if len(out.facts) > MAX_FACTS:
            break
        start = at = m.start()
        while start > done and text[start - 1] not in DELIMS:
            start -= 1
        run = RUN_RE.match(text, at)
        done = run.end() if run else at + 1
        if done - start > MAX_RUN:
            reach.skipped.append((start + MAX_RUN, done))
        if done - start > 1:  # a lone slash is nothing
            _run(out, start, min(done, start + MAX_RUN), file_urls, markers)
    if _MARK.search(text, done) is not None:
        reach.stop(done)
    return out


def _run(out: Found, start: int, stop: int, file_urls: Collection[int], markers: Collection[str]) -> None:
    """One run of path characters, start..stop."""
    text = out.text
    if text.startswith("//", start) and start not in file_urls:
        return  # a comment or a protocol-relative address
    at = start
    while at < stop:
        sep = _SEP.search(text, at, stop)
        if sep is None:
            break
        at = _slashed(out, start, at, sep, stop, file_urls, markers)
    if at < stop:
        bare_names(out, at, stop, run_start=start)


def _slashed(
    out: Found, run: int, at: int, sep: re.Match[str], stop: int, file_urls: Collection[int], markers: Collection[str]
) -> int:
    """The next path of the run; returns where to go on (always beyond `at`)."""
    text = out.text
    q = sep.start()
    h = 0 if _OPENER.search(text, at, q) is None else max(text.rfind(c, at, q) for c in "=([{") + 1
    head_start = max(at, h)
    if h > at and text[h - 1] in "([{" and first_closer(text[h - 1]) in text[h:q]:
        head_start = h - 1  # `(group)/page.tsx`: the bracket belongs to the first segment
    head = text[head_start:q]
    if "$" in head or "%" in head or head.startswith("@"):
        marker = head[1:] in PATH_MARKERS if head.startswith("@") else False
        if not marker:
            return stop
        head_start, head = head_start + 1, head[1:]
    if text[q] == "\\":
        return backslashed(out, at, head_start, sep, stop, markers)
    if head == "" or head == "~" or (is_han(head[-1]) and starts_at_root(text, sep.end(), stop)):
        if head != "~" and head:
            bare_names(out, at, q, run_start=run)
        return _absolute(out, run, q - (head == "~"), sep.end(), stop, file_urls)
    if head[-1] in "&#!^+|;" or not (head[-1].isalnum() or head[-1] in "_.-)]}@~"):
        return _absolute(out, run, q, sep.end(), stop, file_urls)
    return _relative(out, run, at, head_start, q, stop, markers)


def first_closer(opener: str) -> str:
    """The partner of an opening bracket."""
    return {"(": ")", "[": "]", "{": "}"}.get(opener, "\n")


def _absolute(out: Found, run: int, start: int, first: int, stop: int, file_urls: Collection[int]) -> int:
    text = out.text
    t = tail(text, first, stop)
    if not t.segments:
        return max(first, t.end)
    tilde = text[start] == "~"
    from_url = start in file_urls
    ok = from_url or (_abs_before(text, start, t.end) and not t.bad)
    if ok and from_url and "%" in text[start : t.end]:
        t.segments = [unquote(s, errors="replace") for s in t.segments]
    ok = ok and _abs_counts(t.segments, tilde=tilde)
    if ok and _glob_or_placeholder(text, t, stop):
        ok = False
    if ok:
        out.add("abs_path", start, _closed(text, t), canon(t.segments, "~/" if tilde else "/"), _mask_end(text, t))
    elif t.bad or not t.cut:
        return stop if not t.cut else max(t.end, first)
    return max(t.end, first)


def _abs_before(text: str, start: int, end: int) -> bool:
    """What may stand in front of an absolute path."""
    if start == 0:
        return True
    c = text[start - 1]
    if is_han(c):
        return True
    if is_word(c) or c in "./\\~@-)]}#$%?":
        return False
    if c == "*":  # emphasis has the same stars behind it, a glob has not
        return text.startswith("*", end)
    if c == "<":
        return text.startswith(">", end) and text.find("/", start + 1, end) > 0
    if c == ">":
        tag = TAG.search(text, max(0, start - 64), start)
        if tag is not None:
            name = tag.group()[1:-1].split()[0].lower()
            return text.startswith("<", end) or name in _PROSE_TAGS
    return True


def _abs_counts(segments: list[str], *, tilde: bool) -> bool:
    if len(segments) == 1:
        s = segments[0]
        return tilde or has_extension(s) or starts_at_root(s, 0, len(s))
    if segments == ["dev", "null"]:
        return False
    if (
        len(segments) == 2
        and segments[1] in ("g", "i", "gi", "gm", "m", "s", "u")
        and segments[0] not in ("etc", "opt")
    ):
        return False  # a regular expression with flags
    return any(any(c.isalpha() for c in s) for s in segments)


def _glob_or_placeholder(text: str, t: Tail, stop: int) -> bool:
    """`/users/<id>/edit`: what stands there is a pattern, not a path."""
    return (
        t.end == stop
        and text.startswith("<", stop)
        and text[stop - 1] in "/-_."
        and text[stop + 1 : stop + 2].isalpha()
    )


def _relative(out: Found, run: int, at: int, start: int, q: int, stop: int, markers: Collection[str]) -> int:
    """A path that begins with the segment start..q."""
    text = out.text
    while start < q and text[start] in "-+!&^#~":
        start += 1
    head = text[start:q]
    if not head:
        return q + 1
    unglued = _unglued(out, run, at, start, q)
    if unglued < 0:
        return q + 1
    start, head = unglued, text[unglued:q]
    before = text[start - 1] if start else " "
    t = tail(text, start, stop)
    if t.end <= q:  # the first segment was cut already
        bare_names(out, at, q, run_start=run)
        return q + 1
    emphasised = head.startswith("__") and text[t.end - 2 : t.end] == "__" and t.end - start > 4
    if emphasised:
        start, t.end, t.mask_end = start + 2, t.end - 2, t.end
        t.segments[0], t.segments[-1] = t.segments[0][2:], t.segments[-1][:-2]
    if outside(text, start, before, t, run):
        return stop
    if t.bad:
        return stop if not t.cut else t.end
    if all(two_names(s) for s in t.segments):  # `README.md/CHANGELOG.md`: two names, not a folder
        return _names(out, start, t)
    if counts(t, text, markers) and not _glob_or_placeholder(text, t, stop):
        out.add("file_path", start, _closed(text, t), canon(t.segments, ""), _mask_end(text, t))
        return t.end
    if t.cut:
        return max(t.end, q + 1)
    bare_names(out, max(start, text.rfind("/", start, t.end) + 1), stop, run_start=stop)
    return stop


def _unglued(out: Found, run: int, at: int, start: int, q: int) -> int:
    """Where the first segment start..q begins once Han glued in front is cut; -1 when a file name ended inside it."""
    head = out.text[start:q]
    if HAN_RE.search(head) is None:
        return start
    if is_han(head[-1]):
        if not _known_before_han(head):
            return start
        bare_names(out, at, q, run_start=run)
        return -1
    last = max(i for i, c in enumerate(head) if is_han(c)) + 1
    if not is_han(head[0]) and not _known_before_han(head[:last]):
        return start
    bare_names(out, at, start + last, run_start=run)
    return start + last


def _known_before_han(head: str) -> bool:
    """A known extension directly before Han: a file name ended there."""
    at = head.find(".")
    while at >= 0:
        end = at + 1
        while end < len(head) and head[end].isascii() and head[end].isalnum():
            end += 1
        if end < len(head) and is_han(head[end]) and head[at + 1 : end].lower() in EXTENSIONS:
            return True
        at = head.find(".", end)
    return False


def _names(out: Found, start: int, t: Tail) -> int:
    at = start
    for s in t.segments:
        at = out.text.index(s, at)
        bare_names(out, at, at + len(s), run_start=at)
        at += len(s)
    return max(t.end, at)


def _closed(text: str, t: Tail) -> int:
    """End of the fact's text: without a final separator."""
    end = t.end
    while text[end - 1] == "/":
        end -= 1
    return end


def _mask_end(text: str, t: Tail) -> int:
    return mask_after(text, max(t.end, t.mask_end))
