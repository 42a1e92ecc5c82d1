"""The access log of a team, for its admins: who read an original, made a token, changed rights, deleted something."""

from __future__ import annotations

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dshweb.access import selectors
from dshweb.access.callers import CallerRequest
from dshweb.access.models import AccessLog
from dshweb.access.selectors import LogFilters
from dshweb.access.services import actions
from dshweb.access.services.log import note_access
from dshweb.access.team_pages import administered
from dshweb.downloads import CSV, download
from dshweb.text.table import table

COLUMNS = ["at", "person", "token", "action", "target"]


def _filters(request: CallerRequest) -> LogFilters:
    return LogFilters(request.GET.get("action", "")[:40], _number(request, "person"))


def _number(request: CallerRequest, name: str) -> int | None:
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None


@never_cache
@require_safe
def access_log(request: CallerRequest, slug: str) -> HttpResponse:
    """`?action=`, `?person=` (id), `?before=` (id of the last row shown)."""
    team = administered(request, slug)
    filters, before = _filters(request), _number(request, "before")
    found = list(selectors.access_log(team, filters, before)[: selectors.PAGE + 1])
    shown = found[: selectors.PAGE]
    names, people = selectors.in_the_log(team)
    query = urlencode({key: value for key, value in (("action", filters.action), ("person", filters.person)) if value})
    return render(request, "access/log.html", {
        "team": team, "rows": [(row, actions.label(row.action)) for row in shown], "filters": filters, "query": query,
        "actions": [(name, actions.label(name)) for name in names], "people": people, "first": before is None,
        "more": shown[-1].pk if len(found) > selectors.PAGE else None,
    })  # fmt: skip


@never_cache
@require_safe
def access_log_csv(request: CallerRequest, slug: str) -> StreamingHttpResponse:
    """All rows that fit the filters, newest first; times UTC. Taking the log away is itself in the log."""
    team = administered(request, slug)
    rows = selectors.access_log(team, _filters(request))
    note_access(team, "log-exported", request.GET.urlencode()[:300], caller=request.caller)
    lines = table(COLUMNS, (_values(row) for row in rows.iterator(chunk_size=500)))
    return download(lines, CSV, f"access-log-{team.slug}.csv")


def _values(row: AccessLog) -> list[str]:
    at = row.at.strftime("%Y-%m-%dT%H:%M:%SZ")
    return [at, str(row.user or ""), str(row.token or ""), row.action, row.target]
