"""The words around signals of many compactions, for their list. Texts are the stored, masked ones; two queries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Q
from django.db.models.functions import Substr

from audit.models import Signal
from dshweb.sessionlog.models import Compaction, Message

AROUND = 120
READ = 20_000


@dataclass(frozen=True)
class Quote:
    """A piece of one line around a fact. `more_before`, `more_after`: the line goes on there."""

    before: str
    hit: str
    after: str
    more_before: bool
    more_after: bool


def quotes(signals: Iterable[Signal]) -> dict[int, Quote]:
    """By signal id; one without is not found in what is stored, or is a whole line itself."""
    rows = list(signals)
    texts = _summaries([row for row in rows if row.side == "summary"])
    texts |= _leaves([row for row in rows if row.side != "summary" and row.seq is not None])
    found = {row.pk: _around(row, texts.get(row.pk, ())) for row in rows}
    return {pk: quote for pk, quote in found.items() if quote is not None}


def cut(text: str, start: int, end: int) -> Quote:
    line, line_end = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end
    left, right = max(line, start - AROUND), min(line_end, end + AROUND)
    return Quote(text[left:start].lstrip(), text[start:end], text[end:right].rstrip(), left > line, right < line_end)


def _around(row: Signal, texts: Iterable[str]) -> Quote | None:
    for text in texts:
        for needle in filter(None, (row.text, row.canon)):
            start = text.find(needle)
            if start >= 0:
                quote = cut(text, start, start + len(needle))
                return quote if quote.before or quote.after else None
    return None


def _summaries(rows: list[Signal]) -> dict[int, list[str]]:
    if not rows:
        return {}
    asked = {row.audit.compaction_id for row in rows}
    known = dict(Compaction.unscoped.filter(pk__in=asked).values_list("pk", "summary"))
    found: dict[int, list[str]] = {}
    for row in rows:
        blocks = list(known.get(row.audit.compaction_id) or [])
        where = row.data.get("where") if isinstance(row.data, dict) else None
        block = where.get("block") if isinstance(where, dict) else None
        if isinstance(block, int) and 0 <= block < len(blocks):
            blocks.insert(0, blocks[block])
        found[row.pk] = [str(text) for text in blocks]
    return found


def _leaves(rows: list[Signal]) -> dict[int, list[str]]:
    """Beginnings of the messages: a list is not the place to read megabytes for a line."""
    if not rows:
        return {}
    asked: dict[int, set[int]] = {}
    for row in rows:
        asked.setdefault(row.audit.compaction.log_id, set()).add(row.seq or 0)
    places = Q()
    for log, seqs in asked.items():
        places |= Q(log=log, seq__in=seqs)
    texts: dict[tuple[int, int], list[str]] = {}
    heads = Message.unscoped.filter(places).order_by("position").annotate(head=Substr("text", 1, READ))
    for log, seq, head in heads.values_list("log_id", "seq", "head"):
        texts.setdefault((log, seq), []).append(head)
    return {row.pk: texts.get((row.audit.compaction.log_id, row.seq or 0), []) for row in rows}
