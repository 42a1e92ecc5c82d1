"""Lines of a summary cut into the clauses that may claim something. Offsets are code points in the line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from audit.core.statements.headings import walk
from audit.core.statements.model import MAX_LINES, MAX_TEXT
from audit.core.statements.sentences import quoted_spans

MAX_LINE = 1000
MIN_QUOTE = 4

_BULLET = re.compile(r"\s*(?:[-*+•▪·]\s+|\d{1,3}[.)、]\s*|[(（]\d{1,3}[)）]\s*)*(?:\[[ xX✓]\]\s*)?")
_PIECE = re.compile(r"[;；。]|\.(?=\s)")


def lines(summary_text: str) -> Iterator[tuple[str, int, str]]:
    """(heading in force, offset, line) of at most MAX_LINES lines, each cut at MAX_LINE."""
    for heading, at, line in islice(walk(summary_text[:MAX_TEXT]), MAX_LINES):
        yield heading, at, line[:MAX_LINE]


def body(line: str) -> int:
    """Where the text of a line starts behind its bullet."""
    mark = _BULLET.match(line)
    return mark.end() if mark else 0


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without white space and emphasis marks at its ends."""
    while start < end and (text[start].isspace() or text[start] in "*_"):
        start += 1
    while end > start and (text[end - 1].isspace() or text[end - 1] in "*_"):
        end -= 1
    return start, end


def speech(line: str, start: int) -> list[tuple[int, int]]:
    """(start, end) of quoted words of at least MIN_QUOTE code points behind `start`, marks left out; no backticks."""
    found = []
    for a, b in quoted_spans(line):
        inner = line[a + 1 : b - 1]
        if a >= start and line[a] not in "`《" and len(inner.strip()) >= MIN_QUOTE:
            found.append((a + 1, b - 1))
    return found


def pieces(line: str, start: int) -> Iterator[tuple[int, int]]:
    """Clauses of a line behind `start`, cut at semicolons and full stops, trimmed."""
    at = start
    for mark in _PIECE.finditer(line, start):
        a, b = trim(line, at, mark.start())
        if b > a:
            yield a, b
        at = mark.end()
    a, b = trim(line, at, len(line))
    if b > a:
        yield a, b
