"""Where the clause before or after a cue ends. Positions are code points in one sentence.

A comma inside a number (`2,000`) and a colon between digits (`10:30`) belong to a term (AUDIT-REFINEMENTS §2.5).
"""

from __future__ import annotations

MAX_CLAUSE = 90
_MARKS = frozenset("，,；;：:（）()")


def _is_boundary(text: str, at: int) -> bool:
    char = text[at]
    if char not in _MARKS:
        return False
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if char == ",":
        return not (before.isdigit() and text[at + 1 : at + 4].isdigit() and len(text[at + 1 : at + 4]) == 3)
    if char == ":":
        # `10:30`, `host:80`, `C:\x`, `https://`, `a::b` are one term; a label's colon has white space or Han behind it.
        return not (after and (after.isascii() and not after.isspace()))
    if char == "(":
        return not (before.isascii() and before.isalnum())
    if char == ")":
        return text.rfind("(", max(0, at - MAX_CLAUSE), at) < 0 or not after
    return True


def clause_start(text: str, at: int) -> int:
    """Start of the clause that ends at `at` (white space skipped), at most MAX_CLAUSE code points back."""
    low = max(0, at - MAX_CLAUSE)
    start = at
    while start > low and not _is_boundary(text, start - 1):
        start -= 1
    while start < at and text[start].isspace():
        start += 1
    return start


def clause_end(text: str, at: int) -> int:
    """End of the clause that starts at `at`, at most MAX_CLAUSE code points on."""
    high = min(len(text), at + MAX_CLAUSE)
    end = at
    while end < high and not _is_boundary(text, end):
        end += 1
    while end > at and text[end - 1].isspace():
        end -= 1
    return end
