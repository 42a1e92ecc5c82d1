"""Numbers as the harness sees them: every JSON number is an IEEE double, and true is not a number.

Rule: COMPACTION §1 («`bool` is not a number; `1.0` is an integer») and ECMA-262 Number.isInteger / isFinite.
"""

from __future__ import annotations

import math
from typing import TypeGuard

_EXACT = 2**53


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether JavaScript's `typeof value` would be "number"."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def double(value: float) -> float:
    """The value as the double that JavaScript keeps; an integer beyond the range becomes infinity."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def is_integer(value: object) -> TypeGuard[int | float]:
    """Whether `Number.isInteger(value)` holds: 1, 1.0 and 1e300 do; 1.5, infinity, NaN, true and "1" do not."""
    return is_number(value) and math.isfinite(double(value)) and double(value).is_integer()


def is_ratio(value: object) -> TypeGuard[int | float]:
    """A number in (0, 1]: what the native engine takes for a ratio."""
    return is_number(value) and 0 < value <= 1


def whole(value: float) -> int:
    """An integral number as a Python int, rounded to a double first where it is too large to be exact."""
    return value if isinstance(value, int) and -_EXACT <= value <= _EXACT else int(double(value))
