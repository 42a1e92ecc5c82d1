"""Audits compactions of stored logs. Reads, judges, writes a record; never touches a session."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from audit.core.case import AuditCase, Elsewhere
from audit.core.extraction import FactCache
from audit.core.fingerprint import config_fp
from audit.core.record import audit as make_record
from audit.core.schema import ENGINE
from audit.models import Audit, PolicyVersion, Signal
from audit.services import policy as policies
from dshweb.sessionlog.models import Compaction, LogFile
from dshweb.sessionlog.services.evidence import LogEvents
from dshweb.sessionlog.services.fit import plain
from dshweb.sessionlog.services.rows import insert

log_ = logging.getLogger(__name__)


def audit_log(
    log: LogFile,
    *,
    on_progress: Callable[[int, int], None] | None = None,
    compactions: Iterable[Compaction] | None = None,
) -> list[Audit]:
    """Audits the log's compactions that have a summary and no record yet under the policy in force. Returns new records."""
    row, policy = policies.current(team_id=log.team_id)
    fp = config_fp(policy)
    wanted = Compaction.unscoped.filter(log=log, summary_seq__isnull=False).order_by("position")
    if compactions is not None:
        wanted = wanted.filter(pk__in=[one.pk for one in compactions])
    todo = list(wanted.exclude(audits__engine=ENGINE, audits__config_fp=fp))
    made: list[Audit] = []
    if not todo:
        return made
    cache = FactCache()
    with LogEvents(log) as events:
        for done, compaction in enumerate(todo):
            if on_progress:
                on_progress(done, len(todo))
            case = case_of(compaction, events)
            if case is None:
                log_.warning("the summary of compaction %s is no longer in the stored log", compaction.pk)
                continue
            made.append(save(compaction, make_record(case, policy, cache), row))
    if on_progress:
        on_progress(len(todo), len(todo))
    return made


def case_of(compaction: Compaction, events: LogEvents) -> AuditCase | None:
    """What the audit of `compaction` is given, masked; None when its summary row cannot be read."""
    found = events.summary(compaction)
    if found is None:
        return None
    return AuditCase(
        session_id=compaction.session.session_id,
        compaction_id=compaction.compaction_id,
        summary_seq=found.seq,
        checkpoint_seq=compaction.checkpoint_seq,
        at=found.time,
        mode=None,
        cwd=events.cwd,
        summary=found.texts,
        leaves=found.leaves,
        ledger=found.ledger,
        elsewhere=Elsewhere(state=found.state, system=found.system, earlier=found.earlier),
    )


def save(compaction: Compaction, record: dict[str, Any], policy: PolicyVersion | None) -> Audit:
    """Stores a record with its signals. A record of the same configuration that somebody else stored first is kept."""
    stored = plain(record)
    faith, cover = stored["fidelity"] or {}, stored["coverage"] or {}
    with transaction.atomic():
        audit, made = Audit.unscoped.get_or_create(
            compaction=compaction,
            engine=stored["engine"],
            config_fp=stored["configFp"],
            defaults={
                "team_id": compaction.team_id,
                "policy": policy,
                "verdict": stored["verdict"],
                "ledger_incomplete": stored["ledger"]["incomplete"],
                "asserted": faith.get("asserted"),
                "verified": faith.get("verified"),
                "unverified": _count(faith.get("unverified")),
                "key_facts": cover.get("keyFacts"),
                "kept": cover.get("kept"),
                "lost": _count(cover.get("lost")),
                "rate": faith.get("rate"),
                "score": cover.get("score"),
                "terms_open": _terms_open(stored["compliance"]),
                "record": stored,
            },
        )
        if made:
            insert(Signal, SIGNAL_FIELDS, _signals(audit, stored))
    return audit


def _count(rows: list[Any] | None) -> int | None:
    return None if rows is None else len(rows)


def _terms_open(compliance: dict[str, Any] | None) -> int | None:
    if compliance is None:
        return None
    return sum(len(compliance[name]) for name in ("missing", "superseded", "scopeLost"))


SIGNAL_FIELDS = (
    "team_id", "audit_id", "rank", "axis", "cls", "kind", "tier", "text", "canon", "side", "seq", "weight", "data",
)  # fmt: skip


def _signals(audit: Audit, record: dict[str, Any]) -> list[tuple[Any, ...]]:
    listed = [("fidelity", row) for row in (record["fidelity"] or {}).get("unverified", [])]
    listed += [("coverage", row) for row in (record["coverage"] or {}).get("lost", [])]
    return [
        (
            audit.team_id, audit.pk, rank, axis, row["class"], row["kind"], row["tier"], row["text"], row["canon"],
            row["where"]["side"], row["where"]["seq"], row["weight"], json.dumps(row, ensure_ascii=False),
        )
        for rank, (axis, row) in enumerate(listed)
    ]  # fmt: skip


def latest_audits(compactions: QuerySet[Compaction]) -> dict[int, Audit]:
    """The newest record of each compaction that has one, by compaction id."""
    rows = Audit.unscoped.filter(compaction__in=compactions.order_by()).order_by("compaction_id", "id")
    return {audit.compaction_id: audit for audit in rows}
