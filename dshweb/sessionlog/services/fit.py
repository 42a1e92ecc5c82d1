"""Values from a log made to fit a database column: hostile ones become shorter or unknown, never an error."""

from __future__ import annotations

from typing import Any

from dshweb.text.lines import is_storable, storable

BIG = 2**63 - 1
SMALL = 2**31 - 1


def short(value: object, limit: int) -> str:
    """Text of at most `limit` characters that every database takes; "" for what is no text."""
    if not isinstance(value, str):
        return ""
    text = value[:limit]
    return text if is_storable(text) else storable(text).text


def number(value: object, most: int = BIG) -> int | None:
    """A whole number from 0 to `most`, else None (unknown)."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= most else None


def plain(value: Any) -> Any:
    """A JSON value that every database takes and gives back as it was: texts as in `short`, numbers it would write otherwise None.

    jsonb refuses NUL and lone surrogates and writes 1e300 as a whole number of 301 digits.
    """
    if isinstance(value, str):
        return storable(value).text
    if isinstance(value, dict):
        return {storable(key).text: plain(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [plain(member) for member in value]
    if isinstance(value, float):
        return value + 0.0 if abs(value) < 2**53 else None  # -0.0 is 0.0
    if isinstance(value, int) and not isinstance(value, bool):
        return value if abs(value) <= BIG else None
    return value
