"""Whether a run of segments is a relative path: not an address, a port, a module, a version or prose with slashes."""

from __future__ import annotations

import re
from collections.abc import Collection

from audit.core.facts.chars import EXTENSIONS, HAN_RE, PATH_MARKERS, PLAIN_FILES, RELEASE_BRANCHES, TLDS, TOPIC_BRANCHES
from audit.core.facts.posix import Tail, has_extension

_VERSION_SEGMENT = re.compile(r"v?[0-9]+(?:\.(?:[0-9]+|x))*\Z")
_IPV4 = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}\Z")
_DOTTED = re.compile(r"\w\.\w")
_MODULE = re.compile(r"(?:node|npm|jsr|bun|deno):\Z")
TAG = re.compile(r"<[A-Za-z][^<>\n]{0,60}>\Z")


def outside(text: str, start: int, before: str, t: Tail, run: int) -> bool:
    """Runs that look like relative paths and are addresses, ports, modules or the rest of a glob."""
    first = t.segments[0]
    if before == ":" and (first.isdigit() or _MODULE.search(text, max(0, start - 5), start)):
        return True
    if before in "*?$%" and not (before == "*" and text.startswith("*", t.end)):
        return True
    if before == "@" and first not in PATH_MARKERS:  # a scoped package; `@src/main.py` mentions a file
        return True
    if before == ">" and start == run:
        tag = TAG.search(text, max(0, start - 64), start)
        if tag is not None and tag.start() and text[tag.start() - 1] in "/_-.":
            return True
    name, dot, top = first.rpartition(".")
    if dot and name.strip(".") and top.lower() in TLDS and top.lower() not in ("sh", "py", "rs"):
        return True
    return _IPV4.match(first) is not None


def counts(t: Tail, text: str, markers: Collection[str]) -> bool:
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


def two_names(segment: str) -> bool:
    name, dot, ext = segment.rpartition(".")
    return bool(dot) and len(name) > 1 and ext.lower() in EXTENSIONS and not name.startswith(".")
