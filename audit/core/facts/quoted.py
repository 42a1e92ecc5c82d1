"""Paths with spaces: only inside quotes or backticks whose whole content is one path (COMPACTION-AUDIT §4)."""

from __future__ import annotations

import re

from audit.core.facts.chars import EXTENSIONS
from audit.core.facts.model import Fact
from audit.core.facts.posix import has_extension
from audit.core.facts.reach import Reach

_ROOT = r"(?:~?/|\.{1,2}/|[A-Za-z]:[\\/]|\\\\)"
_QUOTED = re.compile(
    rf"[\"'`\u201c\u2018\u300c]({_ROOT}[^\"'`\u201c\u201d\u2018\u2019\u300c\u300d\n]{{0,300}})[\"'`\u201d\u2019\u300d]"
)
_FORBIDDEN = re.compile(rf" -| \||\|| &&| >| ;| \$|[*?<>;,]|\s{_ROOT}|\s\s|\.\.\.|…|[$%=]")
_SEPARATORS = re.compile(r"[\\/]+")


def quoted_paths(text: str, reach: Reach) -> list[Fact]:
    """Quoted paths that contain white space; all others are left to the plain scanners."""
    facts: list[Fact] = []
    for m in reach.places(_QUOTED.finditer(text)):
        body = m.group(1)
        if " " not in body or body != body.strip() or _FORBIDDEN.search(body):
            continue
        windows = body[1:2] == ":" or body.startswith("\\\\")
        if ":" in (body[2:] if windows else body) or not _one_path(body):
            continue
        start, end = m.span(1)
        cls = "file_path" if body.startswith(".") else "abs_path"
        facts.append(Fact(cls, body, _canon(body, windows=windows), start, end))
    return facts


def _one_path(body: str) -> bool:
    """A sentence or a command that starts with a path is not one path."""
    segments = [s for s in _SEPARATORS.split(body) if s]
    for i, s in enumerate(segments):
        if " " not in s:
            continue
        first = s.split(" ")[0]
        if first.rpartition(".")[2].lower() in EXTENSIONS and "." in first:
            return False  # `/opt/a.py input.txt`
        if i and segments[i - 1] in ("bin", "sbin"):
            return False  # `/usr/bin/python x.py`
        if (
            i == len(segments) - 1
            and not has_extension(s)
            and not all(w[:1].isupper() or not w.isascii() for w in s.split())
        ):
            return False  # `/etc/hosts is missing`
    return len(segments) > 1


def _canon(body: str, *, windows: bool) -> str:
    segments = [s for s in _SEPARATORS.split(body) if s]
    if not windows:
        return ("/" if body.startswith("/") else "") + "/".join(segments)
    lead = "\\\\" if body.startswith("\\\\") else ""
    return (lead + "\\".join(segments)).casefold()
