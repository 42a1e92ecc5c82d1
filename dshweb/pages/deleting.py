"""Deleting a session: what would go, then the deed. And the way back: asking for a deleted log to be read again."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from audit.models import Audit, Review, Signal
from dshweb.access.callers import CallerRequest
from dshweb.pages.session import may_delete
from dshweb.sessionlog import selectors
from dshweb.sessionlog.models import DELETED, Session, SourceFile
from dshweb.sessionlog.places import may_bring_back
from dshweb.sessionlog.selectors import may_see_content, may_see_file
from dshweb.sessionlog.services import delete as deletion


def judged(session: Session) -> dict[str, int]:
    """How many audits, signals and reviews go with a session."""
    of = {"compaction__session": session}
    return {
        "audits": Audit.unscoped.filter(**of).count(),
        "signals": Signal.unscoped.filter(audit__compaction__session=session).count(),
        "reviews": Review.unscoped.filter(**of).count(),
    }


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: CallerRequest, pk: int) -> HttpResponse:
    """`/sessions/<id>/delete`: GET says what would go, POST does it. For the session's owner and the team's admins."""
    row = get_object_or_404(selectors.sessions(request.caller), pk=pk)
    if not may_delete(request.caller, row):
        raise PermissionDenied
    if request.method == "POST":
        deletion.delete_session(row.pk, by=request.caller)
        messages.info(
            request,
            _(
                "The session was deleted. Its log is not read again from where it came until you ask for it under Sources."
            ),
        )
        return redirect("sessions")
    return render(request, "sessionlog/delete.html", {
        "session": row, "visible": may_see_content(request.caller, row), "doomed": deletion.doomed(row), "judged": judged(row),
    })  # fmt: skip


@require_POST
def again(request: CallerRequest, pk: int) -> HttpResponse:
    """`/sources/files/<id>/again`: reads the log at this place although its session was deleted."""
    rows = SourceFile.objects.for_caller(request.caller).select_related("team", "log__session__team")
    place = get_object_or_404(rows, pk=pk)
    if not request.caller.may_ingest(place.team_id):
        raise PermissionDenied
    if place.log is not None:
        return (
            redirect("session", pk=place.log.session_id) if may_see_file(request.caller, place) else redirect("sources")
        )
    if place.status != DELETED:  # somebody asked already
        return redirect("sources")
    if not may_bring_back(request.caller, place, place.team):
        raise PermissionDenied
    task = deletion.bring_back(place, by=request.caller)
    if task is None:
        messages.info(
            request, _("Its bytes are not kept here any more. Upload the file again, or let the collector send it.")
        )
        return redirect("sources")
    messages.info(request, _("The log will be read again. A worker does it; nothing is lost if you leave this page."))
    return redirect("task", pk=task.pk)
