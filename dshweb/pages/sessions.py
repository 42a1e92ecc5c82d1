"""The list of sessions, `/sessions/`, and the same as a table. It shows logs and judgements together, above both apps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.http import HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from audit.selectors import Worst, worst_of
from dshweb.access.callers import Caller, CallerRequest
from dshweb.access.models import Team
from dshweb.downloads import CSV, download
from dshweb.pages.panels import Panels
from dshweb.sessionlog import finding, listing
from dshweb.sessionlog.filters import WAITING, Filters
from dshweb.sessionlog.finding import Hit
from dshweb.sessionlog.listing import Page
from dshweb.sessionlog.models import AuditResult, LogStatus, Session
from dshweb.sessionlog.selectors import may_see_content
from dshweb.text.table import table

SORTS: dict[str, Promise] = {
    "newest": _("Newest first"),
    "oldest": _("Oldest first"),
    "attention": _("Most to look at"),
    "compactions": _("Most compactions"),
    "turns": _("Most turns"),
    "tokens": _("Most tokens"),
    "title": _("By title"),
}
PERIODS: dict[str, Promise] = {
    "1": _("last 24 hours"),
    "7": _("last 7 days"),
    "30": _("last 30 days"),
    "90": _("last 90 days"),
}
AUDITS: list[tuple[str, Any]] = [*AuditResult.choices, (WAITING, _("not audited yet"))]
NAMES: dict[str, Promise] = {
    "q": _("Words"),
    "cwd": _("Workspace"),
    "owner": _("Author"),
    "model": _("Model"),
    "provider": _("Provider"),
    "preset": _("Preset"),
    "audit": _("Audit result"),
    "status": _("Log health"),
    "compacted": _("Compactions"),
    "period": _("Time"),
    "since": _("From"),
    "until": _("Until"),
    "session_id": _("Session id"),
    "team": _("Team"),
}
COLUMNS = (
    "id", "sessionId", "team", "title", "workspace", "author", "model", "provider", "preset", "started", "lastEvent", "seconds",
    "turns", "events", "tokens", "compactions", "notCompleted", "auditResult", "logHealth",
)  # fmt: skip


@dataclass(frozen=True)
class Chip:
    """A filter in force, and the address without it."""

    name: Any
    value: Any
    query: str


@dataclass(frozen=True)
class Row:
    """A line of the list. `hit`: where the words that were searched for were said."""

    session: Session
    visible: bool
    worst: Worst | None
    hit: Hit | None

    @property
    def seconds(self) -> float | None:
        return seconds_of(self.session)

    @property
    def worst_compaction(self) -> int | None:
        line = self.worst.line if self.worst else None
        return line.audit.compaction_id if line else None


def seconds_of(session: Session) -> float | None:
    """From its start to its last event; None when one of them is unknown or they contradict each other."""
    if session.created_at is None or session.last_at is None or session.last_at < session.created_at:
        return None
    return (session.last_at - session.created_at).total_seconds()


@require_safe
def listing_page(request: CallerRequest) -> HttpResponse:
    """`/sessions/`: what it is narrowed to, its order and its place all stand in the address."""
    caller, get = request.caller, request.GET
    filters = Filters.read(get)
    page = listing.sessions_page(caller, filters, after=get.get("after", ""), before=get.get("before", ""))
    panels = Panels()
    visible = {row.pk: may_see_content(caller, row) for row in page.rows}
    nothing: dict[Any, Any] = {}
    worst = panels.make("audits", lambda: worst_of(caller, _audited(page.rows)), nothing)
    seen = [row for row in page.rows if visible[row.pk]]
    hits = panels.make("hits", lambda: finding.first_hits(caller, seen, filters.q) if filters.q else {}, nothing)
    options = panels.make("options", lambda: listing.options(caller), None)
    number = panels.make("count", lambda: listing.count(caller, filters), None) if page.rows else (0, True)
    return render(request, "sessionlog/sessions.html", {
        "page": page, "filters": filters, "failed": panels.failed, "options": options, "count": number,
        "rows": [Row(row, visible[row.pk], worst.get(row.current_id), hits.get(row.pk)) for row in page.rows],
        "query": _query(filters), "earlier": _query(filters, before=page.previous), "later": _query(filters, after=page.next),
        "chips": list(_chips(filters, options, request)), "looser": _looser(caller, filters, page),
        "sorts": SORTS.items(), "periods": PERIODS.items(), "audits": AUDITS, "statuses": LogStatus.choices,
        "may_bring_in": any(caller.may_ingest(team) for team in caller.team_ids),
    })  # fmt: skip


def _audited(rows: Iterable[Session]) -> list[int | None]:
    return [row.current_id for row in rows if row.compactions]


def _query(filters: Filters, **more: str) -> str:
    query = QueryDict(mutable=True)
    query.update(filters.query() | {name: value for name, value in more.items() if value})
    return query.urlencode()


def _chips(filters: Filters, options: listing.Options | None, request: CallerRequest) -> Iterator[Chip]:
    owners = {str(pk): name for pk, name in options.owner} if options else {}
    words: dict[str, dict[str, Any]] = {
        "owner": owners,
        "audit": dict(AUDITS),
        "status": dict(LogStatus.choices),
        "period": dict(PERIODS),
        "compacted": {"1": _("with any")},
        "team": dict(Team.objects.filter(slug=filters.team, pk__in=request.caller.team_ids).values_list("slug", "name"))
        if filters.team
        else {},
    }
    for name, value in filters.active():
        yield Chip(NAMES[name], words.get(name, {}).get(value, value), _query(filters.without(name)))


def _looser(caller: Caller, filters: Filters, page: Page) -> list[tuple[Any, int, str]]:
    """Of a list that came out empty: which single filter to drop, how many sessions fit then, and the address."""
    active = [name for name, _value in filters.active()]
    if page.rows or len(active) < 2:
        return []
    found = []
    for name in active[:6]:
        less = filters.without(name)
        number, _exact = listing.count(caller, less)
        if number:
            found.append((NAMES[name], number, _query(less)))
    return found


@require_safe
def export(request: CallerRequest) -> StreamingHttpResponse:
    """`/sessions/export.csv`: the list with the same filters and order, whole, streamed."""
    filters = Filters.read(request.GET)
    rows = (_cells(request.caller, row) for row in listing.every(request.caller, filters))
    return download(table(COLUMNS, rows), CSV, "sessions.csv")


def _cells(caller: Caller, row: Session) -> tuple[Any, ...]:
    visible = may_see_content(caller, row)
    return (
        row.pk, row.session_id, row.team.slug, row.title if visible else "", row.cwd if visible else "",
        row.owner.username if row.owner else "", row.model, row.provider, row.preset, _moment(row.created_at),
        _moment(row.last_at), seconds_of(row), row.turns, row.events, row.tokens, row.compactions, row.failed_compactions,
        row.audit_result, row.status,
    )  # fmt: skip


def _moment(value: datetime | None) -> str | None:
    return None if value is None else value.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
