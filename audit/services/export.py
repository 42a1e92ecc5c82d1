"""Signals with their reviews as files: one JSON object a line, or a table for spreadsheets. Fields: docs/record.md.

Nothing of a log may do anything in the program that opens the file: invisible controls are escaped in JSON (and read
back as they were) and shown in the table, where no cell begins like a formula.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from django.http import StreamingHttpResponse

from audit.models import Review
from audit.selectors_review import Found
from dshweb.text.lines import visible

# controls a terminal obeys, marks that turn the direction of text, line ends that only some programs know
_UNSEEN = re.compile("[\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb]")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
BOM = "\ufeff"
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
    """RFC 4180 with a header, in UTF-8 with a byte order mark: without it spreadsheets take Chinese for something else."""
    writer = csv.writer(_Echo())
    yield BOM + writer.writerow(COLUMNS)
    for found in rows:
        line = _flat(found)
        yield writer.writerow([cell(line[name]) for name in COLUMNS])


def cell(value: Any) -> Any:
    """A value as a cell: unknown is empty; text is shown, never run, so one like a formula begins with an apostrophe."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return value
    text = visible(value)
    return f"'{text}" if value.startswith(_FORMULA) or text.lstrip().startswith(_FORMULA) else text


def streamed(lines: Iterable[str], content_type: str, ending: str) -> StreamingHttpResponse:
    """A download, sent while it is being made. `lines` are gathered to pieces worth sending."""
    response = StreamingHttpResponse(_pieces(lines), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="signals.{ending}"'
    response["Cache-Control"] = "no-store"
    return response


def _pieces(lines: Iterable[str]) -> Iterator[bytes]:
    least = 1 << 12  # the first piece goes early
    gathered: list[bytes] = []
    size = 0
    for line in lines:
        gathered.append(line.encode("utf-8", "backslashreplace"))
        size += len(gathered[-1])
        if size >= least:
            yield b"".join(gathered)
            gathered, size, least = [], 0, 1 << 16
    if gathered:
        yield b"".join(gathered)


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


class _Echo:
    """A file for `csv` that gives back what is written: `writerow` then returns the line."""

    def write(self, text: str) -> str:
        return text
