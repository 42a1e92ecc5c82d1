"""Audits compactions of stored logs. Reads, judges, writes a record; never touches a session."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
from django.db import transaction
from django.db.models import Exists, OuterRef

from audit.core.case import AuditCase, Elsewhere
from audit.core.compliance import STATES
from audit.core.fingerprint import config_fp
from audit.core.growing import Growing
from audit.core.identity import importance, signal_key
from audit.core.marks import Marked
from audit.core.record import run as judge
from audit.core.schema import ENGINE
from audit.models import Audit, PolicyVersion, ReviewVerdict, Signal
from audit.services import policy as policies
from audit.services.attention import settle
from audit.services.facts import facts_of, store
from audit.services.mask_again import mask_records_of
from audit.services.review import standing
from dshweb.sessionlog.models import Compaction, LogFile
from dshweb.sessionlog.services.evidence import LogEvents
from dshweb.sessionlog.services.fit import plain
from dshweb.sessionlog.services.masking import masker_for
from dshweb.sessionlog.services.rows import insert

log_ = logging.getLogger(__name__)


def audit_log(
    log: LogFile,
    *,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Audit]:
    """Audits the log's compactions that have a summary and no record yet under the policy in force. Returns new records."""
    made = _audit_log(log, on_progress)
    settle(log.session_id)
    return made


def _audit_log(log: LogFile, on_progress: Callable[[int, int], None] | None) -> list[Audit]:
    row, policy = policies.current(team_id=log.team_id)
    fp = config_fp(policy)
    wanted = Compaction.unscoped.filter(log=log, summary_seq__isnull=False).order_by("position")
    have = Audit.unscoped.filter(compaction=OuterRef("pk"), engine=ENGINE, config_fp=fp, masked="", marked=True)
    todo = list(wanted.filter(~Exists(have)))
    made: list[Audit] = []
    if not todo:
        return made
    leaves = Growing()
    with LogEvents(log) as events:
        for done, compaction in enumerate(todo):
            if on_progress:
                on_progress(done, len(todo))
            case = case_of(compaction, events)
            if case is None:
                log_.warning("the summary of compaction %s is no longer in the stored log", compaction.pk)
                continue
            judged = judge(case, policy, leaves)
            audit = save(compaction, judged.record, row, masking=policy.masking, facts=facts_of(case, judged))
            if audit is not None:
                made.append(audit)
    if made and (now := masker_for(log.team_id)).version != policy.masking:
        mask_records_of(log, now)  # the patterns changed meanwhile: a re-scan may have been here already
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
        cwd=found.cwd,
        summary=found.texts,
        leaves=found.leaves,
        ledger=found.ledger,
        elsewhere=Elsewhere(state=found.state, system=found.system, earlier=found.earlier),
    )


def forget(compactions: Iterable[int]) -> None:
    """Deletes the records of these compactions (pks), inside the caller's transaction: they are of what the log no longer
    says. The same bytes then give the same records, however often the log was read while it grew.
    """
    Audit.unscoped.filter(compaction__in=compactions).delete()


def save(
    compaction: Compaction,
    record: dict[str, Any],
    policy: PolicyVersion | None,
    *,
    masking: str = "",
    facts: Sequence[Marked] = (),
) -> Audit | None:
    """Stores a record with its signals. A record of the same configuration that somebody else stored first is kept,
    unless it was masked once more by another list since: then this one takes its place (docs/decisions/0002).
    None: the log has been read on meanwhile and says something else of `compaction`; whoever read it has it audited.
    """
    stored = plain(record)
    key = {"compaction": compaction, "engine": stored["engine"], "config_fp": stored["configFp"]}
    values = {"team_id": compaction.team_id, "policy": policy, "masking": masking, "record": stored, **columns(stored)}
    with transaction.atomic():
        if not Compaction.unscoped.select_for_update().filter(pk=compaction.pk, basis=compaction.basis).exists():
            return None
        Audit.unscoped.filter(**key).exclude(masked="").delete()
        audit, made = Audit.unscoped.get_or_create(**key, defaults=values)
        if made:
            insert(Signal, SIGNAL_FIELDS, _signals(audit, stored))
        if not audit.marked:  # a record of before facts were kept gets those of the same rules
            store(audit, facts)
    return audit


def columns(record: dict[str, Any]) -> dict[str, Any]:
    """A record's verdict and numbers as the columns of its row. Facts are counted, not rows; None is unknown."""
    faith, cover = record["fidelity"] or {}, record["coverage"] or {}
    return {
        "verdict": record["verdict"],
        "ledger_incomplete": record["ledger"]["incomplete"],
        "asserted": faith.get("asserted"),
        "verified": faith.get("verified"),
        "unverified": _less(faith.get("asserted"), faith.get("verified")),
        "key_facts": cover.get("keyFacts"),
        "kept": cover.get("kept"),
        "lost": _less(cover.get("keyFacts"), cover.get("kept")),
        "rate": faith.get("rate"),
        "score": cover.get("score"),
        "terms_open": _terms_open(record["compliance"]),
        "partial": bool(record["errors"]) or record["fidelity"] is None or record["coverage"] is None,
    }


def _less(whole: int | None, part: int | None) -> int | None:
    return None if whole is None or part is None else whole - part


def _terms_open(compliance: dict[str, Any] | None) -> int | None:
    if compliance is None:
        return None
    return sum(len(compliance[name]) for name in STATES)


SIGNAL_FIELDS = (
    "team_id", "audit_id", "rank", "axis", "cls", "kind", "tier", "text", "canon", "side", "seq", "weight", "data",
    "key", "review", "importance",
)  # fmt: skip


def _signals(audit: Audit, record: dict[str, Any]) -> list[tuple[Any, ...]]:
    listed = [("fidelity", row) for row in (record["fidelity"] or {}).get("unverified", [])]
    listed += [("coverage", row) for row in (record["coverage"] or {}).get("lost", [])]
    keys = [signal_key(axis, row) for axis, row in listed]
    verdicts = standing(audit.compaction_id)
    return [
        (
            audit.team_id, audit.pk, rank, axis, row["class"], row["kind"], row["tier"], row["text"], row["canon"],
            row["where"]["side"], row["where"]["seq"], row["weight"], msgspec.json.encode(row).decode(),
            keys[rank], verdicts.get(keys[rank], ReviewVerdict.OPEN), importance(row),
        )
        for rank, (axis, row) in enumerate(listed)
    ]  # fmt: skip
