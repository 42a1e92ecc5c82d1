"""The pages about long work. `?part` gives the changing part alone; it answers 304 while nothing changed (FR-094)."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.cache import patch_cache_control
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import condition, require_POST, require_safe

from dshweb.access.callers import CallerRequest
from dshweb.tasks import listing, selectors, services, words
from dshweb.tasks.models import State, Task
from dshweb.tasks.outcomes import outcome
from dshweb.ui.query import whole_number


def _etag(request: CallerRequest, pk: int | None = None) -> str | None:
    """Only the changing part is answered conditionally: the rest of a page also depends on who looks and how."""
    if "part" not in request.GET:
        return None
    version = listing.version(request.caller, pk, _before(request), None if pk else _filters(request))
    return f'"{version}-{int(selectors.worker_alive())}-{get_language()}"'


@require_safe
@condition(etag_func=_etag)
def tasks(request: CallerRequest) -> HttpResponse:
    """`/tasks/`: `?state=`, `?kind=` narrow it, `?before=` pages it."""
    filters = _filters(request)
    rows, more = listing.tasks_page(request.caller, _before(request), filters)
    return _page(request, "tasks/tasks.html", "tasks/_rows.html", {
        "rows": rows, "more": more, "first": _before(request) is None, "busy": any(row.open for row in rows),
        "filters": filters, "query": _query(filters), "part": _query(filters, before=_before(request)),
        "states": [(value, label, _query(listing.Filters(value, filters.kind))) for value, label in words.STATES.items()],
        "kinds": [(value, label, _query(listing.Filters(filters.state, value))) for value, label in
                  {"": _("every kind"), **words.KINDS}.items()],
        **_queue(),
    })  # fmt: skip


@require_safe
@condition(etag_func=_etag)
def task(request: CallerRequest, pk: int) -> HttpResponse:
    """`/tasks/<id>/`: how far it is, what came of it, what was tried before."""
    row = listing.progress(get_object_or_404(listing.tasks(request.caller), pk=pk), request.caller)
    return _page(request, "tasks/task.html", "tasks/_task.html", {
        "row": row, "busy": row.open, "attempts": listing.attempts_of(row.task),
        "others": listing.same_work(request.caller, row.task),
        "outcome": outcome(request.caller, row.task) if row.may_see else None,
        **_queue(),
    })  # fmt: skip


@require_POST
def cancel(request: CallerRequest, pk: int) -> HttpResponse:
    row = _changeable(request, pk)
    if services.cancel(row):
        messages.info(request, _("Cancelled, or told to stop at its next step. What was done is kept."))
    else:
        messages.info(request, _("It had ended already."))
    return redirect("task", pk=pk)


@require_POST
def retry(request: CallerRequest, pk: int) -> HttpResponse:
    row = _changeable(request, pk)
    fresh = services.retry(row, by=listing.asker(request.caller, row))
    return redirect("task", pk=fresh.pk)


def _changeable(request: CallerRequest, pk: int) -> Task:
    row = get_object_or_404(listing.tasks(request.caller), pk=pk)
    if not request.caller.may_ingest(row.team_id):
        raise PermissionDenied
    return row


def _page(request: CallerRequest, whole: str, part: str, context: dict[str, object]) -> HttpResponse:
    response = render(request, part if "part" in request.GET else whole, context)
    patch_cache_control(response, private=True, no_cache=True)
    return response


def _queue() -> dict[str, object]:
    """Whether somebody works, and how long the oldest task waits. Of the whole installation: workers serve all teams."""
    return {"alive": selectors.worker_alive(), "waits": selectors.queue_age()}


def _before(request: CallerRequest) -> int | None:
    return whole_number(request, "before")


def _filters(request: CallerRequest) -> listing.Filters:
    """What the address asks for; what it does not know counts as nothing asked."""
    state, kind = request.GET.get("state", ""), request.GET.get("kind", "")[:40]
    return listing.Filters(state if state in {*words.STATES, *State.values} else "", kind)


def _query(filters: listing.Filters, before: int | None = None) -> str:
    asked = {"state": filters.state, "kind": filters.kind, "before": before}
    return urlencode({name: value for name, value in asked.items() if value})
