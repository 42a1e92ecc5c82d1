"""Values from a log made to fit a database column: hostile ones become shorter or unknown, never an error."""

from __future__ import annotations

from dshweb.text.lines import storable

BIG = 2**63 - 1
SMALL = 2**31 - 1


def short(value: object, limit: int) -> str:
    """Text of at most `limit` characters that every database takes; "" for what is no text."""
    return storable(value[:limit]).text if isinstance(value, str) else ""


def number(value: object, most: int = BIG) -> int | None:
    """A whole number from 0 to `most`, else None (unknown)."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= most else None
