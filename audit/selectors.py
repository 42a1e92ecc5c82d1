"""Questions about audits, as one caller may see them. Lists read columns, never records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db.models import Count, QuerySet

from audit.models import Audit, Signal, Verdict
from dshweb.access.callers import Caller
from dshweb.sessionlog.models import Compaction, Outcome

LISTED = (
    "id", "compaction_id", "engine", "config_fp", "verdict", "ledger_incomplete", "asserted", "verified", "unverified",
    "key_facts", "kept", "lost", "rate", "score", "terms_open", "created_at", "team_id",
)  # fmt: skip


@dataclass(frozen=True)
class Line:
    """The newest audit of a compaction in one line. `kinds` counts its signals by kind."""

    audit: Audit
    kinds: Counter[str] = field(default_factory=Counter)

    @property
    def candidates(self) -> int:
        """Signals and open vocabulary terms. What rests on the assistant's own words alone is matched: not counted."""
        return sum(n for kind, n in self.kinds.items() if kind != "verified") + (self.audit.terms_open or 0)

    @property
    def altered(self) -> int:
        return self.kinds["altered"]

    @property
    def stale(self) -> int:
        return self.kinds["stale"]

    @property
    def cannot(self) -> bool:
        return self.audit.verdict == Verdict.CANNOT

    @property
    def weight(self) -> tuple[int, int, int, int]:
        return (self.altered + self.stale, self.candidates, int(self.cannot), int(self.audit.ledger_incomplete))


@dataclass(frozen=True)
class Worst:
    """Of one session's compactions: the audit with most to look at, and how many have none yet."""

    line: Line | None = None
    waiting: int = 0


def audits_of(caller: Caller) -> QuerySet[Audit]:
    rows: QuerySet[Audit] = Audit.objects.for_caller(caller)
    return rows


def latest(caller: Caller, compactions: Iterable[int]) -> dict[int, Line]:
    """Newest audit of each compaction id that has one. Two queries, whatever the number."""
    newest: dict[int, Audit] = {}
    for audit in audits_of(caller).filter(compaction__in=list(compactions)).order_by("id").only(*LISTED):
        newest[audit.compaction_id] = audit
    kinds: dict[int, Counter[str]] = {}
    ids = [audit.pk for audit in newest.values()]
    counted = Signal.objects.for_caller(caller).filter(audit__in=ids).order_by().values("audit", "kind")
    for row in counted.annotate(n=Count("id")):
        kinds.setdefault(row["audit"], Counter())[row["kind"]] = row["n"]
    return {pk: Line(audit, kinds.get(audit.pk, Counter())) for pk, audit in newest.items()}


def worst_of(caller: Caller, logs: Sequence[int | None]) -> dict[int | None, Worst]:
    """By log id, for the completed compactions of these logs. Three queries, whatever the number."""
    rows = Compaction.objects.for_caller(caller).filter(
        log__in=[log for log in logs if log is not None], outcome=Outcome.COMPLETED
    )
    home = dict(rows.values_list("id", "log_id"))
    lines = latest(caller, home)
    found: dict[int | None, Worst] = {}
    for pk, log in home.items():
        so_far, line = found.get(log, Worst()), lines.get(pk)
        if line is None:
            found[log] = Worst(so_far.line, so_far.waiting + 1)
        elif so_far.line is None or line.weight > so_far.line.weight:
            found[log] = Worst(line, so_far.waiting)
    return found


def newest_audit(caller: Caller, compaction: Compaction) -> Audit | None:
    """With its record."""
    return audits_of(caller).filter(compaction=compaction).select_related("policy").order_by("-id").first()


def signals_of(audit: Audit, first: int | None = None) -> list[Signal]:
    """In the record's order; `first` bounds their number."""
    rows = audit.signals.order_by("rank")
    return list(rows if first is None else rows[:first])
