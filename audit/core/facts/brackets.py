"""Brackets inside a path segment: a path keeps `[id]` and `(group)` and ends at one without a partner."""

from __future__ import annotations

import re

_ANY = re.compile(r"[()\[\]{}]")
_OPEN = {"(": ")", "[": "]", "{": "}"}
_CLOSE = frozenset(_OPEN.values())


def first_unmatched(segment: str) -> int:
    """Index of the first bracket without partner in `segment`, else its length. `](` always ends (a Markdown link)."""
    if _ANY.search(segment) is None:
        return len(segment)
    stack: list[tuple[int, str]] = []
    for i, c in enumerate(segment):
        if c in _OPEN:
            if c == "(" and i and segment[i - 1] == "]":
                return min(i - 1, stack[0][0] if stack else i)
            stack.append((i, _OPEN[c]))
        elif c in _CLOSE:
            if not stack or stack[-1][1] != c:
                return min(i, stack[0][0] if stack else i)
            stack.pop()
    return stack[0][0] if stack else len(segment)
