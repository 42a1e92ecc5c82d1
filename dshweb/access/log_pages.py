"""The access log of a team, for its admins: who read an original, made a token, changed rights, deleted something."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any

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
from dshweb.text.lines import visible

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")

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
    answer = StreamingHttpResponse(_lines(rows), content_type="text/csv; charset=utf-8")
    answer.headers["Content-Disposition"] = f'attachment; filename="access-log-{team.slug}.csv"'
    return answer


class _Echo:
    """What csv.writer writes to: hands each line back."""

    def write(self, line: str) -> str:
        return line


def _lines(rows: Any) -> Iterator[str]:
    writer = csv.writer(_Echo())
    yield "\ufeff" + writer.writerow(COLUMNS)  # spreadsheets take a file without the mark for another encoding
    for row in rows.iterator(chunk_size=500):
        yield writer.writerow([_cell(value) for value in _values(row)])


def _values(row: AccessLog) -> list[str]:
    at = row.at.strftime("%Y-%m-%dT%H:%M:%SZ")
    return [at, str(row.user or ""), str(row.token or ""), row.action, row.target]


def _cell(value: str) -> str:
    """A cell that a spreadsheet takes for text, never for a formula, and a terminal for nothing else."""
    text = visible(value)
    return f"'{text}" if value.startswith(FORMULA) or text.lstrip().startswith(FORMULA) else text
