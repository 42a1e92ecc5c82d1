"""Whether a settings document can be kept as it is by every database, and followed by code that recurses.

Rule: QUALITY §4 (bad input: a clear error with where). Looks at hostile values without recursing itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from compaction.core.problem import Problem

MAX_DEPTH = 8
"""A list of model policies has three levels."""
MAX_CHARS = 64 * 1024


def problems(values: Iterable[tuple[str, object]]) -> tuple[Problem, ...]:
    """Of keys and their values: what is nested too deep, NUL characters and halves of surrogate pairs, numbers that JSON does
    not know, and more than anybody could use. A key may come again, as in a list of operations.
    """
    found, chars = [], 0
    for key, value in values:
        worst, size = _look(value)
        chars += size + len(key)
        if worst is not None:
            code, message = worst
            found.append(Problem(key, code, f"{key}: {message}"))
    if not found and chars > MAX_CHARS:
        found.append(Problem("", "too-large", f"the settings hold more than {MAX_CHARS} characters"))
    return tuple(found)


def _look(value: object) -> tuple[tuple[str, str] | None, int]:
    """(code, message) of what is wrong with a value, and its size in characters, roughly."""
    left, size = [(value, 1)], 0
    while left:
        one, depth = left.pop()
        if depth > MAX_DEPTH:
            return ("too-deep", f"a value is nested more than {MAX_DEPTH} levels deep"), size
        size += 2
        if isinstance(one, str):
            size += len(one)
            if "\0" in one or any(0xD800 <= ord(char) <= 0xDFFF for char in one):
                return ("bad-text", "a text holds a character that cannot be kept (NUL or half a surrogate pair)"), size
        elif isinstance(one, float) and not math.isfinite(one):
            return ("not-a-number", "a number is infinite or none at all"), size
        elif isinstance(one, Mapping):
            left.extend((part, depth + 1) for pair in one.items() for part in pair)
        elif isinstance(one, list | tuple):
            left.extend((item, depth + 1) for item in one)
        else:
            size += len(repr(one)) if isinstance(one, float) or (isinstance(one, int) and abs(one) < 1 << 64) else 20
        if size > MAX_CHARS:
            return ("too-large", f"a value has more than {MAX_CHARS} characters"), size
    return None, size
