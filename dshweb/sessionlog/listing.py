"""The list of sessions: what it is narrowed to, in which order, and one page of it. All of it comes from the address.

Keyset paging in both directions for every order: a cursor names the value and the id of the row it stands at, unknown
values come last in every order. Rows carry no body (FR-086).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Literal

from django.db.models import Case, F, Q, QuerySet, Value, When
from django.db.models.functions import NullIf
from django.utils import timezone

from dshweb.access.callers import Caller
from dshweb.access.models import Visibility
from dshweb.sessionlog.models import AuditResult, LogStatus, Message, Session
from dshweb.sessionlog.services import search

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
PAGE = 50
COUNTED = 1000
OPTIONS = 60
LARGEST = (1 << 63) - 1

WAITING = "waiting"  # completed compactions, none audited
PERIODS = {"1": 1, "7": 7, "30": 30, "90": 90}


@dataclass(frozen=True)
class Sort:
    """An order: a column and its direction. Rows without a value come last either way."""

    column: str
    down: bool = True


SORTS: dict[str, Sort] = {
    "newest": Sort("last_at"),
    "oldest": Sort("last_at", down=False),
    "turns": Sort("turns"),
    "tokens": Sort("tokens"),
    "compactions": Sort("compactions"),
    "attention": Sort("attention"),
    "title": Sort("shown_title", down=False),
}
FIRST_SORT = "newest"


@dataclass(frozen=True)
class Filters:
    """What a list of sessions is narrowed to; empty means everything.

    `owner` is a user's id, `audit` a value of AuditResult or WAITING, `period` a number of days back from now, `since` and
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


@dataclass(frozen=True)
class Page:
    """One page of the list. `next`, `previous`: cursors of its neighbours, "" at an end."""

    rows: list[Session]
    next: str = ""
    previous: str = ""


def sessions_page(
    caller: Caller, filters: Filters | None = None, *, after: str = "", before: str = "", size: int = PAGE
) -> Page:
    """The rows behind the cursor `after`, or those before `before`. A cursor that cannot be read is the first page."""
    filters = filters or Filters()
    rows = narrowed(caller, filters)
    sort = SORTS[filters.sort]
    ahead = beyond(sort, before, way="up") if before else None
    if ahead is not None:
        found = list(_listed(rows.filter(ahead)).order_by(*_order(sort, way="up"))[: size + 1])
        more = len(found) > size
        found = found[:size][::-1]
        if found:
            return Page(found, cursor_at(sort, found[-1]), cursor_at(sort, found[0]) if more else "")
    behind = beyond(sort, after) if after else None
    if behind is not None:
        rows = rows.filter(behind)
    found = list(_listed(rows).order_by(*_order(sort))[: size + 1])
    more = len(found) > size
    found = found[:size]
    back = cursor_at(sort, found[0]) if found and behind is not None else ""
    return Page(found, cursor_at(sort, found[-1]) if more else "", back)


def _listed(rows: QuerySet[Session]) -> QuerySet[Session]:
    heavy = ("state", "header", "damage", "accounting", "work")
    return rows.select_related("team", "owner", "current").defer(*(f"current__{name}" for name in heavy))


def every(caller: Caller, filters: Filters) -> Iterator[Session]:
    """All rows of the list in its order, few in memory at a time."""
    rows = narrowed(caller, filters).select_related("team", "owner")
    return rows.order_by(*_order(SORTS[filters.sort])).iterator(chunk_size=500)


def _order(sort: Sort, *, way: Literal["down", "up"] = "down") -> list[Any]:
    """The order of the list, or the same read from its end (then unknown values come first)."""
    column = F(sort.column)
    falling = sort.down == (way == "down")
    nulls = {"nulls_last": True} if way == "down" else {"nulls_first": True}
    return [column.desc(**nulls) if falling else column.asc(**nulls), "-id" if falling else "id"]


def cursor_at(sort: Sort, row: Session) -> str:
    """`value~id`; times as microseconds since 1970, nothing before the tilde for an unknown value."""
    value = getattr(row, sort.column)
    if isinstance(value, datetime):
        value = (value - EPOCH) // timedelta(microseconds=1)
    return f"{'' if value is None else value}~{row.pk}"


def beyond(sort: Sort, cursor: str, *, way: Literal["down", "up"] = "down") -> Q | None:
    """The rows behind a cursor (or before it: "up"); None for one that cannot be read."""
    text, tilde, pk = cursor.rpartition("~")
    if not tilde or not (pk.isascii() and pk.isdigit()) or len(pk) > 18:
        return None
    column, number = sort.column, int(pk)
    falling = sort.down == (way == "down")
    later = Q(pk__lt=number) if falling else Q(pk__gt=number)
    if text == "":
        same = Q(**{f"{column}__isnull": True}) & later
        return same if way == "down" else same | Q(**{f"{column}__isnull": False})
    value = text if column == "shown_title" else _value(column, text)
    if value is None:
        return None
    found = Q(**{f"{column}__{'lt' if falling else 'gt'}": value}) | Q(**{column: value}) & later
    return found | Q(**{f"{column}__isnull": True}) if way == "down" else found


def _value(column: str, text: str) -> Any:
    try:
        number = int(text)
        if abs(number) > LARGEST:
            return None
        return EPOCH + timedelta(microseconds=number) if column == "last_at" else number
    except (ValueError, OverflowError):
        return None


def narrowed(caller: Caller, filters: Filters) -> QuerySet[Session]:
    """The sessions a caller sees that fit. What lets one guess at content is asked only where the caller may see it."""
    rows: QuerySet[Session] = Session.objects.for_caller(caller)
    if filters.sort == "title":  # one that may not be seen must not show by where it stands, or in a cursor
        rows = rows.annotate(shown_title=Case(When(content(caller), then=NullIf("title", Value("")))))
    if filters.team:
        rows = rows.filter(team__slug=filters.team)
    if filters.q:
        words = Q(title__icontains=filters.q) | Q(cwd__icontains=filters.q)
        said = messages_saying(caller, filters.q)
        if said is not None:
            words |= Q(pk__in=said.values("log__session"))
        rows = rows.filter(Q(session_id__icontains=filters.q) | words & content(caller))
    if filters.cwd:
        rows = rows.filter(Q(cwd=filters.cwd) & content(caller))
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
        yield Q(last_at__gte=timezone.now() - timedelta(days=PERIODS[filters.period]))
    zone = timezone.get_current_timezone()
    since, until = _day(filters.since), _day(filters.until)
    if since is not None:
        yield Q(last_at__gte=datetime.combine(since, time.min, zone))
    if until is not None:
        yield Q(last_at__lt=datetime.combine(until + timedelta(days=1), time.min, zone))


def content(caller: Caller) -> Q:
    """Sessions whose content the caller may see, as a condition; the twin of `selectors.may_see_content`."""
    admin = [team for team in caller.team_ids if caller.is_admin(team)]
    return Q(team__content_visibility=Visibility.TEAM) | Q(owner=caller.user) | Q(team__in=admin)


def messages_saying(caller: Caller, words: str) -> QuerySet[Message] | None:
    """Messages of the caller's teams in which a person or the assistant used all these words; None without a word.

    Who may see them is a question to their sessions (`may_see_content`).
    """
    found = search.matching(words)
    rows: QuerySet[Message] = Message.objects.for_caller(caller)
    return None if found is None else rows.filter(pk__in=found)


def count(caller: Caller, filters: Filters) -> tuple[int, bool]:
    """How many fit, and whether that is exact: a narrowed list is counted to COUNTED only."""
    rows = narrowed(caller, filters).order_by()
    if not filters.any:
        return rows.count(), True
    number = rows.values("pk")[: COUNTED + 1].count()
    return min(number, COUNTED), number <= COUNTED


@dataclass(frozen=True)
class Options:
    """What there is to filter by, at most OPTIONS of each: the values, and (id, name) of owners."""

    model: list[str]
    provider: list[str]
    preset: list[str]
    cwd: list[str]
    owner: list[tuple[int, str]]


def options(caller: Caller) -> Options:
    """Five queries. Folders only of sessions whose content the caller sees."""
    rows: QuerySet[Session] = Session.objects.for_caller(caller)

    def seen(column: str, among: QuerySet[Session]) -> list[str]:
        named = among.exclude(**{column: ""}).order_by(column).values_list(column, flat=True)
        return list(named.distinct()[:OPTIONS])

    owners = rows.exclude(owner=None).order_by("owner__username").values_list("owner", "owner__username").distinct()
    return Options(
        model=seen("model", rows),
        provider=seen("provider", rows),
        preset=seen("preset", rows),
        cwd=seen("cwd", rows.filter(content(caller))),
        owner=list(owners[:OPTIONS]),
    )
