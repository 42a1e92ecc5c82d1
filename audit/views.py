"""The page of one compaction with its fragments, its record, and the request to audit it anew."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from audit import presenting, selectors
from audit.core.record import dumps
from audit.models import Audit
from audit.page import Asked, Columns
from audit.selectors_facts import Round, rounds_of
from audit.services.again import audit_log_again
from dshweb.access.callers import CallerRequest
from dshweb.sessionlog.models import Compaction
from dshweb.sessionlog.selectors import compactions, may_see_content
from dshweb.ui.query import whole_number

FRAGMENT = "X-Fragment"


@require_safe
def compaction(request: CallerRequest, pk: int) -> HttpResponse:
    """`/compactions/<id>/`: verdict, axes, and the three columns. `?fact=` key, `?signal=` id, `?at=` seq, `?kind=`, `?cls=`,
    `?all` shows every signal.
    """
    row, audit, rounds, older = found_for(request, pk)
    visible = may_see_content(request.caller, row.session)
    numbers = [one.compaction.pk for one in rounds]
    here = numbers.index(row.pk)
    context: dict[str, Any] = {
        "compaction": row,
        "session": row.session,
        "audit": audit,
        "older": older,
        "visible": visible,
        "may_ask": request.caller.may_ingest(row.team_id) and row.summary is not None,
        "may_review": request.caller.may_review(row.team_id),
        "shown": presenting.shown(audit) if audit else None,
        "wrote": (row.usage or {}).get("outputTokens"),
        "rounds": sum(1 for one in rounds if one.compaction.round is not None),
        "round_before": numbers[here - 1] if here else None,
        "round_after": numbers[here + 1] if here + 1 < len(numbers) else None,
    }
    if visible and row.summary is not None:
        context |= Columns(request.caller, row, audit, rounds).page(_asked(request), request.GET)
    return render(request, "audit/compaction.html", context)


@require_safe
def originals(request: CallerRequest, pk: int) -> HttpResponse:
    """`/compactions/<id>/originals?at=SEQ` or `?fact=KEY`: one window of the originals, for the page's script.

    204: the fact stands nowhere in them.
    """
    row, audit, rounds, _older = found_for(request, pk, content=True)
    columns = Columns(request.caller, row, audit, rounds)
    asked = _asked(request)
    chosen = columns.selected(asked.fact)
    if asked.at is None and chosen.seq is None:
        return HttpResponse(status=204)
    window = columns.window(asked.at, chosen)
    return render(request, "audit/_window.html", {
        "window": window, "compaction": row, "session": row.session, "chosen": chosen, "shown": None,
    })  # fmt: skip


@require_safe
def fact(request: CallerRequest, pk: int, key: str) -> HttpResponse:
    """`/compactions/<id>/facts/<key>`: one fact's card, for the page's script."""
    row, audit, rounds, _older = found_for(request, pk, content=True)
    card = Columns(request.caller, row, audit, rounds).card(key)
    if card is None:
        raise Http404
    return render(request, "audit/_card.html", card | {"session": row.session})


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


def found_for(
    request: CallerRequest, pk: int, *, content: bool = False
) -> tuple[Compaction, Audit | None, list[Round], bool]:
    """The compaction, the record that counts, the log's rounds, and whether the record is of an older policy.

    With `content` it is not found for who may not see what was said.
    """
    row = get_object_or_404(compactions(request.caller), pk=pk)
    if content and not may_see_content(request.caller, row.session):
        raise Http404
    rounds = rounds_of(request.caller, row)
    mine = next(one for one in rounds if one.compaction.pk == row.pk).chosen
    chosen = selectors.record_of(request.caller, mine) if mine else None
    return row, chosen.audit if chosen else None, rounds, chosen is not None and chosen.older


def _asked(request: HttpRequest) -> Asked:
    get = request.GET
    return Asked(
        fact=get.get("fact", "")[:12],
        signal=whole_number(request, "signal"),
        at=whole_number(request, "at"),
        kind=get.get("kind", "")[:20],
        cls=get.get("cls", "")[:20],
        all="all" in get,
    )
