"""What answers have in common: camelCase names, unknown as null, lists in pages."""

from __future__ import annotations

from typing import Generic, TypeVar

from django.db.models import Model, QuerySet
from ninja import Schema
from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from dshweb.api.errors import ApiError

T = TypeVar("T")
Row = TypeVar("Row", bound=Model)
LIMIT = 50
MOST = 200
LARGEST_ID = (1 << 63) - 1


class Shape(Schema):
    """Base of every body. Names are camelCase on the wire, times UTC with `Z`."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, from_attributes=True)


class Paged(Shape, Generic[T]):
    """One page of a list; `next` is the `cursor` of the following one, null at the end."""

    items: list[T]
    next: str | None = None


def id_page(rows: QuerySet[Row], cursor: str, limit: int) -> tuple[list[Row], str | None]:
    """A page of `rows`, newest id first, and the cursor of the next. Raises ApiError 400 for a cursor of no page."""
    rows = rows.order_by("-pk")
    if cursor:
        rows = rows.filter(pk__lt=whole_number(cursor))
    found = list(rows[: limit + 1])
    return found[:limit], str(found[limit - 1].pk) if len(found) > limit else None


def whole_number(cursor: str) -> int:
    """The number that a cursor is. Raises ApiError 400 for one of no page."""
    if not (cursor.isascii() and cursor.isdigit() and int(cursor) <= LARGEST_ID):
        raise bad_cursor()
    return int(cursor)


def bad_cursor() -> ApiError:
    return ApiError(400, "bad-cursor", "This cursor is none of ours; start again without one.")
