"""POSIX and relative paths and bare file names in maximal runs of path characters (COMPACTION-AUDIT §4, §8 "Measured trap").

A scan jumps from separator to separator (or `.x`), widens each to its run, and reads the run from left to right;
every step consumes what it looked at, so a text costs linear time whatever it holds.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from urllib.parse import unquote

from audit.core.facts.bare import Found, bare_names
from audit.core.facts.chars import (
    DELIMS,
    EXTENSIONS,
    HAN_RE,
    PATH_MARKERS,
    PLAIN_FILES,
    RELEASE_BRANCHES,
    RUN_RE,
    TLDS,
    TOPIC_BRANCHES,
    is_han,
    is_word,
    words,
)
from audit.core.facts.model import MAX_FACTS, MAX_RUN
from audit.core.facts.posix import Tail, canon, has_extension, starts_at_root, tail
from audit.core.facts.reach import PATH_WEIGHT, Reach

_MARK = re.compile(r"/|\\|\.[A-Za-z]")
_OPENER = re.compile(r"[=(\[{]")
_SEP = re.compile(r"[/\\]+")
_POSITION = re.compile(r"(?::[0-9]{1,7}){1,2}(?![0-9])|\([0-9]+(?:, ?[0-9]+)?\)")
_VERSION_SEGMENT = re.compile(r"v?[0-9]+(?:\.(?:[0-9]+|x))*\Z")
_IPV4 = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}\Z")
_DOTTED = re.compile(r"\w\.\w")
_MODULE = re.compile(r"(?:node|npm|jsr|bun|deno):\Z")
_TAG = re.compile(r"<[A-Za-z][^<>\n]{0,60}>\Z")
_PROSE_TAGS = words("br li p td th code pre b i em strong span div kbd path file")
_WIDEST = 4096  # code points of one backslash path that are looked at
_PLAIN_FIRST = re.compile(r"[\w.@+~-]+\Z")


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
        return _backslashed(out, at, head_start, sep, stop, markers)
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
        tag = _TAG.search(text, max(0, start - 64), start)
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
    if _outside(text, start, before, t, run):
        return stop
    if t.bad:
        return stop if not t.cut else t.end
    if all(_two_names(s) for s in t.segments):  # `README.md/CHANGELOG.md`: two names, not a folder
        return _names(out, start, t)
    if _rel_counts(t, text, markers) and not _glob_or_placeholder(text, t, stop):
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


def _outside(text: str, start: int, before: str, t: Tail, run: int) -> bool:
    """Runs that look like relative paths and are addresses, ports, modules or the rest of a glob."""
    first = t.segments[0]
    if before == ":" and (first.isdigit() or _MODULE.search(text, max(0, start - 5), start)):
        return True
    if before in "*?$%" and not (before == "*" and text.startswith("*", t.end)):
        return True
    if before == "@" and first not in PATH_MARKERS:  # a scoped package; `@src/main.py` mentions a file
        return True
    if before == ">" and start == run:
        tag = _TAG.search(text, max(0, start - 64), start)
        if tag is not None and tag.start() and text[tag.start() - 1] in "/_-.":
            return True
    name, dot, top = first.rpartition(".")
    if dot and name.strip(".") and top.lower() in TLDS and top.lower() not in ("sh", "py", "rs"):
        return True
    return _IPV4.match(first) is not None


def _rel_counts(t: Tail, text: str, markers: Collection[str]) -> bool:
    segments = t.segments
    if len(segments) < 2:
        return False
    if not _first_ok(segments[0]) or all(_VERSION_SEGMENT.match(s) for s in segments):
        return False
    first, last = segments[0], segments[-1]
    if first in (".", ".."):
        return any(s.strip(".") for s in segments)
    if first in PATH_MARKERS or first in markers:
        return True
    ext = last.rpartition(".")[2].lower() if has_extension(last) else ""
    if ext:
        if first == "application" and last.startswith(("vnd.", "x-")):
            return False
        # `a.x/b.y` with an extension nobody knows is arithmetic or prose more often than a path.
        return ext in EXTENSIONS or last.startswith(".") or not any(_DOTTED.search(s) for s in segments[:-1])
    if last in PLAIN_FILES:
        return True
    return _is_branch(segments)


def _is_branch(segments: list[str]) -> bool:
    first, rest = segments[0], "/".join(segments[1:])
    if len(segments) > 3 or HAN_RE.search(rest):
        return False
    if first in RELEASE_BRANCHES:
        return any(c.isdigit() for c in rest)
    return first in TOPIC_BRANCHES and len(rest) > 2 and any(c in "-_0123456789" for c in rest)


def _first_ok(first: str) -> bool:
    return first[0] not in ")]}," and any(c.isalnum() or c in "._" for c in first)


def _two_names(segment: str) -> bool:
    name, dot, ext = segment.rpartition(".")
    return bool(dot) and len(name) > 1 and ext.lower() in EXTENSIONS and not name.startswith(".")


def _names(out: Found, start: int, t: Tail) -> int:
    at = start
    for s in t.segments:
        at = out.text.index(s, at)
        bare_names(out, at, at + len(s), run_start=at)
        at += len(s)
    return max(t.end, at)


def _backslashed(out: Found, at: int, start: int, sep: re.Match[str], stop: int, markers: Collection[str]) -> int:
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
    out.add("file_path", start, end, "/".join(t.segments), _mask_after(text, end))
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


def _closed(text: str, t: Tail) -> int:
    """End of the fact's text: without a final separator."""
    end = t.end
    while text[end - 1] == "/":
        end -= 1
    return end


def _mask_end(text: str, t: Tail) -> int:
    return _mask_after(text, max(t.end, t.mask_end))


def _mask_after(text: str, end: int) -> int:
    suffix = _POSITION.match(text, end)
    return suffix.end() if suffix else end
