"""Questions about signals that people review, as one caller may see them: over many compactions, with their verdicts.

A signal counts when it is of the record of its compaction that counts (audit.selectors.chosen), of the session's current
log, and not of rows that a fork took over from its parent: so one candidate is asked about once. With `compaction` given
it is that compaction's, whichever log it is of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.http import Http404
from django.utils import timezone

from audit.core.schema import ENGINE
from audit.models import Audit, Review, Signal
from audit.selectors import audits_of, is_older
from audit.services.policy import in_force
from dshweb.access.callers import Caller
from dshweb.access.models import Team, Visibility
from dshweb.sessionlog.models import Compaction
from dshweb.sessionlog.selectors import may_see_content

PAGE = 40
CHUNK = 1000
FEW = 1000
LARGEST = (1 << 63) - 1
SORTS = ("importance", "newest")
JOINED = ("audit__compaction__session__team", "team")
ASKED = (
    "team__slug", "team__name", "audit_id", "rank", "axis", "cls", "kind", "tier", "text", "canon", "side", "seq", "weight",
    "data", "key", "review", "importance", "audit__compaction_id", "audit__engine", "audit__config_fp", "audit__team_id",
    "audit__compaction__compaction_id", "audit__compaction__at", "audit__compaction__model", "audit__compaction__round",
    "audit__compaction__log_id", "audit__compaction__session__session_id", "audit__compaction__session__title",
    "audit__compaction__session__owner_id", "audit__compaction__session__team_id",
    "audit__compaction__session__team__content_visibility",
)  # fmt: skip


@dataclass(frozen=True)
class Filters:
    """What a list of signals is narrowed to; empty means everything. All of it lives in the address.

    `session` and `compaction` are our ids. `since` and `until` are days of the summaries, both included.
    """

    verdict: str = ""
    kind: str = ""
    cls: str = ""
    axis: str = ""
    session: int | None = None
    compaction: int | None = None
    model: str = ""
    since: date | None = None
    until: date | None = None
    sort: str = "importance"


@dataclass(frozen=True)
class Found:
    """A signal, its reviews (newest first), and whether its record was made under an older policy."""

    signal: Signal
    reviews: list[Review]
    older: bool


@dataclass(frozen=True)
class Page:
    """`next` is the cursor of the following page, "" at the end."""

    rows: list[Found]
    next: str = ""
    first: bool = True


class BadCursor(ValueError):
    """A cursor that is none of ours."""


def reviews_of(caller: Caller, compaction: Compaction) -> dict[str, list[Review]]:
    """The reviews of one compaction by signal key, newest first, with their people. Empty for who may not see its content.

    One query.
    """
    if not may_see_content(caller, compaction.session):
        return {}
    rows = Review.objects.for_caller(caller).filter(compaction=compaction)
    return {key: reviews for (_compaction, key), reviews in _by_signal(rows).items()}


def signal_for(caller: Caller, pk: int) -> Signal:
    """One signal with its compaction and session, of whatever record. Raises Http404 when the caller may not see it."""
    rows = Signal.objects.for_caller(caller).select_related(*JOINED).only(*ASKED)
    found: Signal | None = rows.filter(pk=pk).first() if 0 < pk <= LARGEST else None
    if found is None or not may_see_content(caller, found.audit.compaction.session):
        raise Http404
    return found


def found_for(caller: Caller, signal: Signal) -> Found:
    """`signal` (of `signal_for`) with its reviews."""
    return _with_reviews([signal], in_force([signal.team_id]))[0]


def signals_page(caller: Caller, filters: Filters, cursor: str = "", size: int = PAGE) -> Page:
    """One page. Four or five queries, whatever there is. Raises BadCursor."""
    rows, force = _signals(caller, filters)
    rows = rows.select_related(*JOINED).only(*ASKED)
    last = _after(cursor, filters.sort)
    if last is not None:
        rows = rows.filter(last)
    found = list(rows.order_by(*_order(filters.sort))[: size + 1])
    more = len(found) > size
    found = found[:size]
    return Page(_with_reviews(found, force), _cursor(found[-1], filters.sort) if more else "", first=last is None)


def every(caller: Caller, filters: Filters, size: int = CHUNK) -> Iterator[Found]:
    """All signals, `size` in memory at a time; what is reviewed meanwhile may be missing or show its new verdict.

    The first ones are few, so that a download begins at once.
    """
    page = signals_page(caller, filters, size=min(PAGE, size))
    yield from page.rows
    while page.next:
        page = signals_page(caller, filters, page.next, size)
        yield from page.rows


def counts(caller: Caller, filters: Filters) -> Counter[tuple[str, str]]:
    """Signals by (verdict, kind), whatever verdict and kind are asked for."""
    audits, _force, _narrow = _audits(caller, filters)
    rows = Signal.objects.for_caller(caller).filter(audit__in=audits.values("pk"))
    rows = _of_kind(rows, replace(filters, verdict="", kind=""))
    counted = rows.order_by().values_list("review", "kind").annotate(n=Count("id"))
    return Counter({(verdict, kind): n for verdict, kind, n in counted})


def models_of(caller: Caller) -> list[str]:
    """Models that wrote summaries, for the filter."""
    rows = Compaction.objects.for_caller(caller).exclude(model="").order_by("model").values_list("model", flat=True)
    return list(rows.distinct()[:100])


def _audits(caller: Caller, filters: Filters) -> tuple[QuerySet[Audit], dict[int, str], bool]:
    """Records whose signals are listed; the configuration in force of each team; whether they may well be few."""
    force = in_force(caller.team_ids)
    rows: QuerySet[Audit] = audits_of(caller).order_by().filter(_count(force))
    hidden = _teams_by_owner(caller)
    if hidden:
        rows = rows.filter(~Q(team__in=hidden) | Q(compaction__session__owner=caller.user))
    if filters.compaction is not None:
        rows = rows.filter(compaction=filters.compaction)
    else:
        rows = rows.filter(compaction__inherited=False, compaction__log=F("compaction__session__current"))
    narrower: dict[str, Any] = {
        "compaction__session": filters.session,
        "compaction__model": filters.model or None,
        "compaction__at__gte": filters.since and _midnight(filters.since),
        "compaction__at__lt": filters.until and _midnight(filters.until + timedelta(days=1)),
    }
    given = {name: value for name, value in narrower.items() if value is not None}
    return rows.filter(**given), force, bool(given or hidden or filters.compaction is not None)


def _signals(caller: Caller, filters: Filters) -> tuple[QuerySet[Signal], dict[int, str]]:
    """The signals without an order, and the configuration in force of each team.

    Of few records they are read and sorted; of many, the index that has them in order is walked until a page is full.
    SQLite keeps no statistics and would take the index for both.
    """
    audits, force, narrow = _audits(caller, filters)
    few = list(audits.values_list("pk", flat=True)[: FEW + 1]) if narrow else None
    if few is not None and len(few) <= FEW:
        rows: QuerySet[Signal] = Signal.unscoped.filter(audit__in=few)
    else:
        rows = Signal.objects.for_caller(caller).filter(audit__in=audits.values("pk"))
    return _of_kind(rows, filters), force


def _of_kind(rows: QuerySet[Signal], filters: Filters) -> QuerySet[Signal]:
    plain = {"review": filters.verdict, "kind": filters.kind, "cls": filters.cls, "axis": filters.axis}
    return rows.filter(**{name: value for name, value in plain.items() if value})


def _count(force: dict[int, str]) -> Q:
    """Records that count, as `audit.selectors.chosen` says: the one in force, else the newest."""
    current = Q(pk__in=[])
    for fp in sorted(set(force.values())):
        current |= Q(team__in=[team for team, one in force.items() if one == fp], engine=ENGINE, config_fp=fp)
    better = Audit.unscoped.filter(current | Q(pk__gt=OuterRef("pk")), compaction=OuterRef("compaction"))
    return current | Q(~Exists(better))


def _teams_by_owner(caller: Caller) -> list[int]:
    """Teams of which the caller sees only the content of own sessions (DECISIONS 3)."""
    rows = Team.objects.filter(pk__in=caller.team_ids, content_visibility=Visibility.OWNER)
    return [pk for pk in rows.values_list("pk", flat=True) if not caller.is_admin(pk)]


def _with_reviews(signals: list[Signal], force: dict[int, str]) -> list[Found]:
    compactions, keys = {row.audit.compaction_id for row in signals}, {row.key for row in signals}
    history = _by_signal(Review.unscoped.filter(compaction__in=compactions, key__in=keys))
    return [
        Found(row, history.get((row.audit.compaction_id, row.key), []), is_older(row.audit, force)) for row in signals
    ]


def _by_signal(rows: QuerySet[Review]) -> dict[tuple[int, str], list[Review]]:
    """By compaction and key, newest first, with their people. One query."""
    found: dict[tuple[int, str], list[Review]] = {}
    for row in rows.select_related("user", "token").order_by("-id"):
        found.setdefault((row.compaction_id, row.key), []).append(row)
    return found


def _order(sort: str) -> tuple[str, ...]:
    return ("-id",) if sort == "newest" else ("-importance", "-id")


def _cursor(row: Signal, sort: str) -> str:
    return f"{row.pk}" if sort == "newest" else f"{row.importance}~{row.pk}"


def _after(cursor: str, sort: str) -> Q | None:
    if not cursor:
        return None
    parts = cursor.split("~")
    if len(parts) != (1 if sort == "newest" else 2) or not all(p.isascii() and p.isdigit() for p in parts):
        raise BadCursor(cursor[:40])
    numbers = [int(part[:20]) for part in parts]
    if any(number > LARGEST for number in numbers):
        raise BadCursor(cursor[:40])
    if sort == "newest":
        return Q(pk__lt=numbers[0])
    return Q(importance__lte=numbers[0]) & (Q(importance__lt=numbers[0]) | Q(pk__lt=numbers[1]))


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))
