"""The pages about long work. `?part` gives the changing part alone; both answer 304 while nothing changed (FR-094)."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.cache import patch_cache_control
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import condition, require_POST, require_safe

from dshweb.access.callers import CallerRequest
from dshweb.tasks import listing, services
from dshweb.tasks.models import Task
from dshweb.ui.query import whole_number


def _etag(request: CallerRequest, pk: int | None = None) -> str | None:
    """Only the changing part is answered conditionally: the rest of a page also depends on who looks and how."""
    if "part" not in request.GET:
        return None
    return f'"{listing.version(request.caller, pk, _before(request))}-{get_language()}"'


@require_safe
@condition(etag_func=_etag)
def tasks(request: CallerRequest) -> HttpResponse:
    rows, more = listing.tasks_page(request.caller, _before(request))
    return _page(request, "tasks/tasks.html", "tasks/_rows.html", {
        "rows": rows, "more": more, "first": _before(request) is None, "busy": any(row.open for row in rows),
    })  # fmt: skip


@require_safe
@condition(etag_func=_etag)
def task(request: CallerRequest, pk: int) -> HttpResponse:
    row = listing.progress(get_object_or_404(listing.tasks(request.caller), pk=pk), request.caller)
    return _page(request, "tasks/task.html", "tasks/_task.html", {"row": row, "busy": row.open})


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
    fresh = services.retry(_changeable(request, pk), by=request.caller.user)
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


def _before(request: CallerRequest) -> int | None:
    return whole_number(request, "before")
