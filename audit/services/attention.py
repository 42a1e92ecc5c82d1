"""What the audits of a session come to in one word and one number, kept on its row: lists filter and sort by them in SQL."""

from __future__ import annotations

from django.db.models import Exists, OuterRef

from audit.models import Audit
from audit.selectors import Line, chosen, lines_of
from dshweb.sessionlog.models import AuditResult, Outcome, Session

DOUBT = 1
CANDIDATE = 10
CHANGED = 10_000_000


def settle(session: int) -> None:
    """Makes both anew for the session with this pk, from the records that count of its current log. Five queries."""
    rows = Audit.unscoped.filter(
        compaction__session=session,
        compaction__log__in=Session.unscoped.filter(pk=session).values("current"),
        compaction__outcome=Outcome.COMPLETED,
        compaction__inherited=False,
    )
    worst = max(lines_of(chosen(rows).values()), key=lambda line: line.weight, default=None)
    Session.unscoped.filter(pk=session).update(
        audit_result=result_of(worst) if worst else "", attention=attention_of(worst) if worst else None
    )


def settle_missing() -> int:
    """Settles sessions that were audited before their rows had a place for it; how many there were."""
    audited = Audit.unscoped.filter(compaction__log=OuterRef("current"), compaction__inherited=False)
    rows = Session.unscoped.filter(Exists(audited), attention=None, compactions__gt=0).values_list("pk", flat=True)
    pks = list(rows)
    for pk in pks:
        settle(pk)
    return len(pks)


def result_of(line: Line) -> AuditResult:
    """The worst that is said of it."""
    if line.altered or line.stale:
        return AuditResult.ALTERED
    if line.candidates:
        return AuditResult.CANDIDATES
    if line.cannot:
        return AuditResult.CANNOT
    return AuditResult.PARTIAL if line.partial else AuditResult.CLEAN


def attention_of(line: Line) -> int:
    """`line.weight` as one number."""
    changed, candidates, doubts, incomplete = line.weight
    return CHANGED * changed + CANDIDATE * min(candidates, CHANGED // CANDIDATE - 1) + DOUBT * (2 * doubts + incomplete)
