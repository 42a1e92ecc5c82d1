"""Signals with their reviews as files: one JSON object a line, or a table for spreadsheets. Fields: docs/record.md.

Nothing of a log may do anything in the program that opens the file: invisible controls are escaped in JSON (and read
back as they were) and shown in the table (dshweb.text.table).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from audit.models import Review
from audit.selectors_review import Found
from dshweb.text import table as tables

# controls a terminal obeys, marks that turn the direction of text, line ends that only some programs know
_UNSEEN = re.compile("[\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb]")
COLUMNS = (
    "id", "team", "session", "sessionId", "compaction", "compactionId", "at", "model", "axis", "rank", "kind", "class",
    "tier", "text", "canon", "side", "seq", "sources", "occurrences", "weight", "near", "verdict", "note", "reviewedBy",
    "reviewedAt", "engine", "configFp", "older",
)  # fmt: skip


def line_of(found: Found) -> dict[str, Any]:
    """A signal with its review as REST and export say it; `signal` is the row as it stands in the record."""
    signal, compaction = found.signal, found.signal.audit.compaction
    return {
        "id": signal.pk,
        "team": signal.team.slug,
        "session": compaction.session_id,
        "sessionId": compaction.session.session_id,
        "compaction": compaction.pk,
        "compactionId": compaction.compaction_id,
        "at": moment(compaction.at),
        "model": compaction.model or None,
        "engine": signal.audit.engine,
        "configFp": signal.audit.config_fp,
        "older": found.older,
        "axis": signal.axis,
        "rank": signal.rank,
        "verdict": str(signal.review),
        "review": review_of(found.reviews[0]) if found.reviews else None,
        "signal": signal.data,
    }


def review_of(review: Review) -> dict[str, Any]:
    return {
        "verdict": str(review.verdict),
        "note": review.note,
        "by": review.user.username if review.user else None,
        "token": review.token.name if review.token else None,
        "at": moment(review.at),
    }


def moment(value: datetime | None) -> str | None:
    return None if value is None else value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def jsonl(rows: Iterable[Found]) -> Iterator[str]:
    for found in rows:
        text = json.dumps(line_of(found), ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
        # beyond ASCII there are only strings in JSON, so each such character may stand as its escape
        yield _UNSEEN.sub(lambda m: f"\\u{ord(m.group()):04x}", text) + "\n"


def table(rows: Iterable[Found]) -> Iterator[str]:
    lines = (_flat(found) for found in rows)
    return tables.table(COLUMNS, ([line[name] for name in COLUMNS] for line in lines))


def _flat(found: Found) -> dict[str, Any]:
    line = line_of(found)
    row, review = line["signal"] if isinstance(line["signal"], dict) else {}, line["review"] or {}
    near, signal = row.get("near") or {}, found.signal
    return line | {
        "kind": signal.kind,
        "class": signal.cls,
        "tier": signal.tier,
        "text": signal.text,
        "canon": signal.canon,
        "side": signal.side,
        "seq": signal.seq,
        "sources": " ".join(row.get("sources") or []),
        "occurrences": row.get("occurrences"),
        "weight": signal.weight,
        "near": near.get("canon"),
        "note": review.get("note"),
        "reviewedBy": review.get("by"),
        "reviewedAt": review.get("at"),
        "older": "yes" if found.older else "no",
    }
