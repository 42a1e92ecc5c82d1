"""What a list of sessions is narrowed to: read from the address, said in an address, and as a question to the database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import date, datetime, time, timedelta
from typing import Any

from django.db.models import Case, Q, QuerySet, Value, When
from django.db.models.functions import NullIf
from django.utils import timezone

from dshweb.access.callers import Caller
from dshweb.sessionlog.finding import messages_saying
from dshweb.sessionlog.models import AuditResult, LogStatus, Session
from dshweb.sessionlog.orders import FIRST_SORT, SORTS
from dshweb.sessionlog.selectors import content_seen

WAITING = "waiting"  # completed compactions, none audited
PERIODS = ("1", "7", "30", "90")  # days back from now


@dataclass(frozen=True)
class Filters:
    """What a list of sessions is narrowed to; empty means everything.

    `owner` is a user's id, `audit` a value of AuditResult or WAITING, `period` one of PERIODS, `since` and
    `until` are days as 2026-01-31, both included. Of what cannot be understood nothing is kept.
    """

    q: str = ""
    cwd: str = ""
    owner: str = ""
    model: str = ""
    provider: str = ""
    preset: str = ""
    audit: str = ""
    status: str = ""
    compacted: str = ""
    period: str = ""
    since: str = ""
    until: str = ""
    session_id: str = ""
    team: str = ""
    sort: str = FIRST_SORT

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Filters:
        """From an address. Anything without a meaning is left out, so that it is not said to be filtered by."""
        found = {one.name: str(given.get(one.name) or "").strip()[:1000] for one in fields(cls)}
        found["q"] = found["q"][:200]
        found["compacted"] = "1" if "compacted" in given else ""
        keep = {
            "owner": found["owner"].isascii() and found["owner"].isdigit() and len(found["owner"]) <= 18,
            "audit": found["audit"] in {*AuditResult.values, WAITING},
            "status": found["status"] in LogStatus.values,
            "period": found["period"] in PERIODS,
            "since": _day(found["since"]) is not None,
            "until": _day(found["until"]) is not None,
        }
        found |= {name: "" for name, good in keep.items() if not good}
        if found["sort"] not in SORTS:
            found["sort"] = FIRST_SORT
        return cls(**found)

    def active(self) -> Iterator[tuple[str, str]]:
        """(name, value) of what is narrowed."""
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name != "sort" and value:
                yield one.name, value

    @property
    def any(self) -> bool:
        return any(True for _ in self.active())

    def without(self, name: str) -> Filters:
        return replace(self, **{name: ""})

    def query(self) -> dict[str, str]:
        """As the parameters of an address, nothing that is the default."""
        return dict(self.active()) | ({"sort": self.sort} if self.sort != FIRST_SORT else {})


def _day(text: str) -> date | None:
    try:
        found = date.fromisoformat(text) if len(text) == 10 else None
    except ValueError:
        return None
    return found if found is not None and 1 < found.year < 9999 else None


def narrowed(caller: Caller, filters: Filters) -> QuerySet[Session]:
    """The sessions a caller sees that fit. What lets one guess at content is asked only where the caller may see it."""
    rows: QuerySet[Session] = Session.objects.for_caller(caller)
    if filters.sort == "title":  # one that may not be seen must not show by where it stands, or in a cursor
        rows = rows.annotate(shown_title=Case(When(content_seen(caller), then=NullIf("title", Value("")))))
    if filters.team:
        rows = rows.filter(team__slug=filters.team)
    if filters.q:
        words = Q(title__icontains=filters.q) | Q(cwd__icontains=filters.q)
        said = messages_saying(caller, filters.q)
        if said is not None:
            words |= Q(pk__in=said.values("log__session"))
        rows = rows.filter(Q(session_id__icontains=filters.q) | words & content_seen(caller))
    if filters.cwd:
        rows = rows.filter(Q(cwd=filters.cwd) & content_seen(caller))
    for name in ("model", "provider", "preset", "status", "session_id"):
        value = getattr(filters, name)
        if value:
            rows = rows.filter(**{name: value})
    if filters.owner:
        rows = rows.filter(owner=int(filters.owner))
    if filters.audit == WAITING:
        rows = rows.filter(audit_result="", compactions__gt=0)
    elif filters.audit:
        rows = rows.filter(audit_result=filters.audit)
    if filters.compacted:
        rows = rows.filter(Q(compactions__gt=0) | Q(failed_compactions__gt=0))
    return rows.filter(*_times(filters))


def _times(filters: Filters) -> Iterator[Q]:
    if filters.period:
        yield Q(last_at__gte=timezone.now() - timedelta(days=int(filters.period)))
    zone = timezone.get_current_timezone()
    since, until = _day(filters.since), _day(filters.until)
    if since is not None:
        yield Q(last_at__gte=datetime.combine(since, time.min, zone))
    if until is not None:
        yield Q(last_at__lt=datetime.combine(until + timedelta(days=1), time.min, zone))
