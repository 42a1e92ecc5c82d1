"""Stores the facts of an audit with their places, beside its record and from the same run of the rules."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import msgspec
from django.db.models import QuerySet

from audit.core.case import AuditCase
from audit.core.marks import Marked, by_text, fact_key, marked
from audit.core.record import Audit as Judged
from audit.models import Audit, Fact, MarkedText
from dshweb.sessionlog.services.fit import BIG, short
from dshweb.sessionlog.services.rows import insert

log_ = logging.getLogger(__name__)

TEXT_CHARS = 2000
LEAF, SUMMARY = "leaf", "summary"
FACT_FIELDS = (
    "team_id", "audit_id", "position", "key", "cls", "canon", "text", "fate", "claim", "tier", "sources", "pair",
    "leaves", "summary",
)  # fmt: skip
TEXT_FIELDS = ("team_id", "audit_id", "side", "place", "marks")


def facts_of(case: AuditCase, done: Judged) -> list[Marked]:
    """The facts to mark; none when they cannot be made: a page without marks is better than no audit."""
    try:
        return marked(case, done)
    except Exception:
        log_.exception("the facts of compaction %s could not be marked", case.compaction_id)
        return []


def store(audit: Audit, facts: Sequence[Marked]) -> None:
    """Inserts the facts of a record that has none yet, inside the caller's transaction."""
    insert(Fact, FACT_FIELDS, [_row(audit, position, fact) for position, fact in enumerate(facts)])
    rows = [(LEAF, seq, marks) for seq, marks in by_text(facts).items() if seq <= BIG]
    rows += [(SUMMARY, block, marks) for block, marks in by_text(facts, summary=True).items()]
    insert(MarkedText, TEXT_FIELDS, [(audit.team_id, audit.pk, *row[:2], _json(row[2])) for row in rows])
    Audit.unscoped.filter(pk=audit.pk).update(marked=True)
    audit.marked = True


def forget_facts(audits: QuerySet[Audit]) -> None:
    """Deletes the facts of these records: their texts and places are those of an earlier masking."""
    ids = list(audits.values_list("pk", flat=True))
    for model in (Fact, MarkedText):
        model.unscoped.filter(audit__in=ids).delete()
    Audit.unscoped.filter(pk__in=ids).update(marked=False)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _row(audit: Audit, position: int, fact: Marked) -> tuple[Any, ...]:
    return (
        audit.team_id, audit.pk, position, fact.key, short(fact.cls, 20), short(fact.canon, TEXT_CHARS),
        short(fact.text, TEXT_CHARS), fact.fate, fact.claim, fact.tier, _json(fact.sources),
        fact_key(*fact.pair) if fact.pair else "", _json([one for one in fact.leaves if one[0] <= BIG]),
        _json(fact.summary),
    )  # fmt: skip
