"""The orders a list of sessions can have, and the places in them.

Keyset paging in both directions for every order: a cursor names the value and the id of the row it stands at, unknown
values come last in every order.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from django.db.models import F, Q

from dshweb.sessionlog.models import Session

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LARGEST = (1 << 63) - 1

Way = Literal["down", "up"]


@dataclass(frozen=True)
class Sort:
    """An order: a column and its direction. Rows without a value come last either way."""

    column: str
    down: bool = True


SORTS: dict[str, Sort] = {
    "newest": Sort("last_at"),
    "oldest": Sort("last_at", down=False),
    "turns": Sort("turns"),
    "tokens": Sort("tokens"),
    "compactions": Sort("compactions"),
    "attention": Sort("attention"),
    "title": Sort("shown_title", down=False),
}
FIRST_SORT = "newest"


def ordered(sort: Sort, *, way: Way = "down") -> list[Any]:
    """The order of the list, or the same read from its end (then unknown values come first)."""
    column = F(sort.column)
    falling = sort.down == (way == "down")
    nulls = {"nulls_last": True} if way == "down" else {"nulls_first": True}
    return [column.desc(**nulls) if falling else column.asc(**nulls), "-id" if falling else "id"]


def cursor_at(sort: Sort, row: Session) -> str:
    """`value~id`; times as microseconds since 1970, nothing before the tilde for an unknown value."""
    value = getattr(row, sort.column)
    if isinstance(value, datetime):
        value = (value - EPOCH) // timedelta(microseconds=1)
    return f"{'' if value is None else value}~{row.pk}"


def beyond(sort: Sort, cursor: str, *, way: Way = "down") -> Q | None:
    """The rows behind a cursor (or before it: "up"); None for one that cannot be read."""
    text, tilde, pk = cursor.rpartition("~")
    if not tilde or not (pk.isascii() and pk.isdigit()) or len(pk) > 18:
        return None
    column, number = sort.column, int(pk)
    falling = sort.down == (way == "down")
    later = Q(pk__lt=number) if falling else Q(pk__gt=number)
    if text == "":
        same = Q(**{f"{column}__isnull": True}) & later
        return same if way == "down" else same | Q(**{f"{column}__isnull": False})
    value = _value(column, text)
    if value is None:
        return None
    found = Q(**{f"{column}__{'lt' if falling else 'gt'}": value}) | Q(**{column: value}) & later
    return found | Q(**{f"{column}__isnull": True}) if way == "down" else found


def _value(column: str, text: str) -> Any:
    if column == "shown_title":
        return text
    try:
        number = int(text)
        if abs(number) > LARGEST:
            return None
        return EPOCH + timedelta(microseconds=number) if column == "last_at" else number
    except (ValueError, OverflowError):
        return None
