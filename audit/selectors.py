"""Questions about audits, as one caller may see them. Lists read columns, never records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import Count, QuerySet

from audit.core.schema import ENGINE
from audit.models import Audit, Signal, Verdict
from audit.services.policy import in_force
from dshweb.access.callers import Caller
from dshweb.sessionlog.models import Compaction, Outcome

LISTED = (
    "id", "compaction_id", "engine", "config_fp", "verdict", "ledger_incomplete", "asserted", "verified", "unverified",
    "key_facts", "kept", "lost", "rate", "score", "terms_open", "partial", "masked", "created_at", "team_id", "policy_id",
)  # fmt: skip


@dataclass(frozen=True)
class Chosen:
    """The record of a compaction that counts. `older`: none was made under the policy in force yet, this is the newest."""

    audit: Audit
    older: bool


@dataclass(frozen=True)
class Line:
    """The audit of a compaction in one line. `kinds` counts its signals by kind; `older` is as in `Chosen`."""

    audit: Audit
    kinds: Counter[str] = field(default_factory=Counter)
    older: bool = False

    @property
    def candidates(self) -> int | None:
        """Rows to look at: signals and open vocabulary terms; None when one of the two axes could not be made.

        What rests on the assistant's own words alone is matched: not counted.
        """
        if self.audit.asserted is None or self.audit.key_facts is None:
            return None
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
    def partial(self) -> bool:
        """Something could not be judged, so that finding nothing says less than it seems to."""
        return self.audit.partial or self.candidates is None

    @property
    def weight(self) -> tuple[int, int, int, int]:
        doubts = int(self.cannot) + int(self.partial)
        return (self.altered + self.stale, self.candidates or 0, doubts, int(self.audit.ledger_incomplete))


@dataclass(frozen=True)
class Worst:
    """Of one log's compactions: the audit with most to look at, and how many have none yet."""

    line: Line | None = None
    waiting: int = 0


def audits_of(caller: Caller) -> QuerySet[Audit]:
    rows: QuerySet[Audit] = Audit.objects.for_caller(caller)
    return rows


def chosen(rows: QuerySet[Audit]) -> dict[int, Chosen]:
    """Of these records the one that counts for each compaction id; pages, lists, `--json` and `--gate` all ask here.

    It is the one made by this engine under the policy in force, which need not be the newest: a team may have gone back
    to an earlier policy. Three queries, whatever the number; records themselves are read when they are looked at.
    """
    listed = list(rows.order_by("id").only(*LISTED))
    force = in_force(audit.team_id for audit in listed)
    found: dict[int, Chosen] = {}
    for audit in listed:
        older = is_older(audit, force)
        so_far = found.get(audit.compaction_id)
        if so_far is None or so_far.older or not older:
            found[audit.compaction_id] = Chosen(audit, older)
    return found


def is_older(audit: Audit, force: Mapping[int, str]) -> bool:
    """Whether a record is not of this engine and the configuration in force (`in_force`)."""
    return (audit.engine, audit.config_fp) != (ENGINE, force.get(audit.team_id))


def audit_of(caller: Caller, compaction: Compaction) -> Chosen | None:
    """The record of one compaction that counts, whole, with its policy."""
    one = chosen(audits_of(caller).filter(compaction=compaction)).get(compaction.pk)
    return one and record_of(caller, one)


def record_of(caller: Caller, one: Chosen) -> Chosen:
    """The same with its record and policy read."""
    return Chosen(audits_of(caller).select_related("policy").get(pk=one.audit.pk), one.older)


def latest(caller: Caller, compactions: Iterable[int]) -> dict[int, Line]:
    """The audit of each compaction id that has one. Four queries, whatever the number."""
    found = chosen(audits_of(caller).filter(compaction__in=list(compactions)))
    return {line.audit.compaction_id: line for line in lines_of(found.values())}


def lines_of(found: Iterable[Chosen]) -> list[Line]:
    """These audits in one line each; who was given them may see that much of their signals. One query."""
    found = list(found)
    kinds: dict[int, Counter[str]] = {one.audit.pk: Counter() for one in found}
    counted = Signal.unscoped.filter(audit__in=list(kinds)).order_by().values_list("audit", "kind")
    for audit, kind, n in counted.annotate(n=Count("id")):
        kinds[audit][kind] = n
    return [Line(one.audit, kinds[one.audit.pk], one.older) for one in found]


def worst_of(caller: Caller, logs: Sequence[int | None]) -> dict[int | None, Worst]:
    """By log id, for these logs' own completed compactions; inherited ones are the parent's. Five queries at most."""
    rows = Compaction.objects.for_caller(caller).filter(
        log__in=[log for log in logs if log is not None], outcome=Outcome.COMPLETED, inherited=False
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


def signals_of(audit: Audit, first: int | None = None) -> list[Signal]:
    """In the record's order; `first` bounds their number."""
    rows = audit.signals.order_by("rank")
    return list(rows if first is None else rows[:first])


def counts_of(audit: Audit) -> dict[tuple[str, str, str], int]:
    """How many signals it has by (kind, class, verdict of the newest review). One query."""
    rows = audit.signals.order_by().values_list("kind", "cls", "review").annotate(n=Count("id"))
    return {(kind, cls, review): n for kind, cls, review, n in rows}
