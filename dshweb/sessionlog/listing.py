"""The list of sessions: one page, the whole, its length, and what there is to narrow it by. Rows carry no body (FR-086)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import QuerySet

from dshweb.access.callers import Caller
from dshweb.sessionlog.filters import Filters, narrowed
from dshweb.sessionlog.models import Session
from dshweb.sessionlog.orders import SORTS, beyond, cursor_at, ordered
from dshweb.sessionlog.selectors import content_seen, with_current

PAGE = 50
COUNTED = 1000
OPTIONS = 60


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
        found = list(with_current(rows.filter(ahead)).order_by(*ordered(sort, way="up"))[: size + 1])
        more = len(found) > size
        found = found[:size][::-1]
        if found:
            return Page(found, cursor_at(sort, found[-1]), cursor_at(sort, found[0]) if more else "")
    behind = beyond(sort, after) if after else None
    if behind is not None:
        rows = rows.filter(behind)
    found = list(with_current(rows).order_by(*ordered(sort))[: size + 1])
    more = len(found) > size
    found = found[:size]
    back = cursor_at(sort, found[0]) if found and behind is not None else ""
    return Page(found, cursor_at(sort, found[-1]) if more else "", back)


def every(caller: Caller, filters: Filters) -> Iterator[Session]:
    """All rows of the list in its order, few in memory at a time."""
    rows = narrowed(caller, filters).select_related("team", "owner")
    return rows.order_by(*ordered(SORTS[filters.sort])).iterator(chunk_size=500)


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
        cwd=seen("cwd", rows.filter(content_seen(caller))),
        owner=list(owners[:OPTIONS]),
    )
