"""Writes many rows at once. The one place that goes past the ORM: `bulk_create` was 4 to 6 times slower (PERFORMANCE §3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from django.db import connection, models

from dshweb.sessionlog.core.index import FrameInfo
from dshweb.sessionlog.models import Frame, Message

# what is kept of a frame: all that reading it again needs
FRAME_COLUMNS = tuple(name for name in FrameInfo.__struct_fields__ if name != "carried")
FRAME_FIELDS = ("team_id", "log_id", *FRAME_COLUMNS)
MESSAGE_FIELDS = (
    "team_id", "log_id", "position", "seq", "type", "author", "human", "turn", "step", "at", "call_id", "tool",
    "is_error", "placeholder", "inherited", "opaque_blocks", "redactions", "chars", "digest", "parts", "text",
)  # fmt: skip


def insert_frames(rows: Sequence[tuple[Any, ...]]) -> None:
    insert(Frame, FRAME_FIELDS, rows)


def insert_messages(rows: Sequence[tuple[Any, ...]]) -> None:
    insert(Message, MESSAGE_FIELDS, rows)


def insert(model: type[models.Model], fields: Iterable[str], rows: Sequence[tuple[Any, ...]]) -> None:
    """Inserts `rows` (values in the order of `fields`) inside the caller's transaction."""
    if not rows:
        return
    quote = connection.ops.quote_name
    names = list(fields)
    columns = ", ".join(quote(name) for name in names)
    places = ", ".join(["%s"] * len(names))
    table = quote(model._meta.db_table)
    with connection.cursor() as cursor:
        # table and column names come from the model, values are bound
        cursor.executemany(f"INSERT INTO {table} ({columns}) VALUES ({places})", rows)  # noqa: S608


# the years 1 and 9999 are left out: their edges fall off the calendar in other time zones
_FIRST, _LAST = (int(datetime(year, 1, 1, tzinfo=UTC).timestamp() * 1000) for year in (2, 9999))


def moment(epoch_ms: int | None) -> datetime | None:
    """The datetime of an epoch time in milliseconds; None when unknown or not a time a calendar has in every time zone."""
    if epoch_ms is None or not _FIRST <= epoch_ms <= _LAST:
        return None
    try:
        return datetime.fromtimestamp(epoch_ms / 1000, tz=UTC)
    except (OverflowError, OSError, ValueError):
        return None


def column_time(epoch_ms: int | None) -> Any:
    """`moment` as the database driver wants it in a raw insert."""
    if epoch_ms is None or not _FIRST <= epoch_ms <= _LAST:
        return None
    second, ms = divmod(epoch_ms, 1000)
    if connection.vendor == "sqlite":  # a text; its whole seconds are those of many rows
        text = _second(second)
        return text if text is None or not ms else f"{text}.{ms:03d}000"
    return _adapted(moment(epoch_ms))


@lru_cache(maxsize=256)
def _second(second: int) -> Any:
    return _adapted(moment(second * 1000))


def _adapted(value: datetime | None) -> Any:
    return None if value is None else connection.ops.adapt_datetimefield_value(value)
