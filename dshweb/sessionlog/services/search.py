"""The text index over what was said: human and assistant text, never reminders, reasoning, system or tool text (FR-064, FR-067).

Tokens come from `dshweb.text.cjk`, so both engines index the same words: SQLite in an FTS5 table, PostgreSQL in a `tsvector` column of a
plain table. Rows are keyed by the message's id and go with it (trigger, foreign key).
"""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.db import connection
from django.db.models.expressions import RawSQL

from dshweb.text.cjk import tokens

TABLE = "sessionlog_search"
LONGEST = 255  # characters of a word
MOST_BYTES = 900_000  # of the words of one message; a tsvector holds a megabyte


def add(entries: Sequence[tuple[int, list[str]]]) -> None:
    """Indexes (message id, `words` of its masked text) pairs inside the caller's transaction."""
    rows: list[tuple[int, str | list[str]]]
    if connection.vendor == "postgresql":  # words as they are; its parser would take paths and numbers apart
        rows = list(entries)
        statement = f"INSERT INTO {TABLE} (message_id, words) VALUES (%s, array_to_tsvector(%s::text[]))"  # noqa: S608
    else:
        rows = [(message_id, " ".join(words)) for message_id, words in entries]
        statement = f"INSERT INTO {TABLE} (rowid, words) VALUES (%s, %s)"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.executemany(statement, rows)


def words(text: str) -> list[str]:
    """Each word of a text once, in order, within what a tsvector holds: no longer than LONGEST, MOST_BYTES together."""
    kept, left = [], MOST_BYTES
    for word in dict.fromkeys(tokens(text[: settings.MAX_STORED_TEXT])):
        left -= len(word.encode())
        if left < 0:
            break
        if len(word) <= LONGEST:
            kept.append(word)
    return kept


def matching(query: str) -> RawSQL | None:
    """Ids of the messages that hold every word of `query`, as a subquery; None when the query has no word.

    It knows nothing of teams: filter the messages or sessions it is used on by who asks.
    """
    words = tokens(query)
    if not words or any(len(word) > LONGEST for word in words):
        return None
    if connection.vendor == "postgresql":
        every = " & ".join("'" + word.replace("\\", "\\\\").replace("'", "''") + "'" for word in words)
        return RawSQL(f"SELECT message_id FROM {TABLE} WHERE words @@ %s::tsquery", [every])  # noqa: S608, S611
    phrase = " ".join('"' + word.replace('"', '""') + '"' for word in words)
    return RawSQL(f"SELECT rowid FROM {TABLE} WHERE {TABLE} MATCH %s", [phrase])  # noqa: S608, S611


def indexed() -> RawSQL:
    """Ids of all messages that have a row here, as a subquery."""
    column = "message_id" if connection.vendor == "postgresql" else "rowid"
    return RawSQL(f"SELECT {column} FROM {TABLE}", [])  # noqa: S608, S611
