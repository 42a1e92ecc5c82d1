"""The text index over what was said: human and assistant text, never reminders, reasoning, system or tool text (FR-064, FR-067).

Tokens come from `dshweb.text.cjk`, so both engines index the same words: SQLite in an FTS5 table, PostgreSQL in a `tsvector` column of a
plain table. Rows are keyed by the message's id and go with it (trigger, foreign key).
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection

from dshweb.text.cjk import tokens

TABLE = "sessionlog_search"


def add(entries: Sequence[tuple[int, str]]) -> None:
    """Indexes (message id, masked text) pairs inside the caller's transaction. Texts without a word are left out."""
    rows = [(message_id, " ".join(words)) for message_id, text in entries if (words := tokens(text))]
    if not rows:
        return
    if connection.vendor == "postgresql":
        statement = f"INSERT INTO {TABLE} (message_id, words) VALUES (%s, to_tsvector('simple', %s))"  # noqa: S608
    else:
        statement = f"INSERT INTO {TABLE} (rowid, words) VALUES (%s, %s)"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.executemany(statement, rows)


def find(query: str, *, limit: int = 200) -> list[int]:
    """Ids of messages that hold every word of `query`, newest first; [] when the query has no word."""
    words = tokens(query)
    if not words:
        return []
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                f"SELECT message_id FROM {TABLE} WHERE words @@ plainto_tsquery('simple', %s)"  # noqa: S608
                " ORDER BY message_id DESC LIMIT %s",
                [" ".join(words), limit],
            )
        else:
            phrase = " ".join('"' + word.replace('"', '""') + '"' for word in words)
            cursor.execute(
                f"SELECT rowid FROM {TABLE} WHERE {TABLE} MATCH %s ORDER BY rowid DESC LIMIT %s",  # noqa: S608
                [phrase, limit],
            )
        return [row[0] for row in cursor.fetchall()]
