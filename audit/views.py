"""The page of one compaction, its record, and the request to audit it anew."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from audit import presenting, selectors
from audit.core.record import dumps
from audit.models import Audit
from audit.services.again import audit_log_again
from dshweb.access.callers import CallerRequest
from dshweb.sessionlog.models import Compaction
from dshweb.sessionlog.selectors import compactions, may_see_content, texts_at

FIRST = 60


@require_safe
def compaction(request: CallerRequest, pk: int) -> HttpResponse:
    """`/compactions/<id>/`: verdict, axes, signals with evidence, summary. `?all` shows every signal."""
    row = get_object_or_404(compactions(request.caller), pk=pk)
    chosen = selectors.audit_of(request.caller, row)
    audit = chosen.audit if chosen else None
    return render(request, "audit/compaction.html", {
        "compaction": row, "session": row.session, "audit": audit, "older": chosen is not None and chosen.older,
        "visible": may_see_content(request.caller, row.session),
        "may_ask": request.caller.may_ingest(row.team_id) and row.summary is not None,
        "shown": presenting.shown(audit) if audit else None,
        **(_signals(request, row, audit) if audit else {}),
    })  # fmt: skip


@require_safe
def record(request: CallerRequest, pk: int) -> HttpResponse:
    """The record that counts, byte for byte as `audit --json` prints it."""
    row = get_object_or_404(compactions(request.caller), pk=pk)
    chosen = selectors.audit_of(request.caller, row)
    if chosen is None or not may_see_content(request.caller, row.session):
        raise Http404
    response = HttpResponse(dumps(chosen.audit.record) + b"\n", content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="audit-{pk}.json"'
    return response


@require_POST
def audit_again(request: CallerRequest, pk: int) -> HttpResponse:
    row = get_object_or_404(compactions(request.caller), pk=pk)
    if not request.caller.may_ingest(row.team_id):
        raise PermissionDenied
    audit_log_again(row.log, request.caller.user)
    messages.info(request, _("The audit was asked for. A worker does it; nothing is lost if you leave this page."))
    return redirect("compaction", pk=pk)


def _signals(request: CallerRequest, row: Compaction, audit: Audit) -> dict[str, Any]:
    """Signals with the text around them; only for those who may see content."""
    if not may_see_content(request.caller, row.session):
        return {"signals": None}
    found = selectors.signals_of(audit, None if "all" in request.GET else FIRST + 1)
    more = "all" not in request.GET and len(found) > FIRST
    found = found[:FIRST] if more else found
    texts = texts_at(row.log_id, presenting.seqs_of(found))
    return {
        "signals": presenting.rows_of(found, row.summary, texts),
        "more": more,
        "assistant_only": presenting.rows_of(presenting.assistant_only(audit), row.summary, ()),
    }
