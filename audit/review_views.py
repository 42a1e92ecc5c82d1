"""The pages on which people review signals: the list over all compactions, one verdict, and the exports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from audit import presenting_review as presenting
from audit import selectors_review as selectors
from audit.models import Signal
from audit.services import export
from audit.services.review import BadReview, review
from audit.views import FRAGMENT
from dshweb.access.callers import CallerRequest
from dshweb.downloads import CSV, JSONL, download


@require_safe
def signals(request: CallerRequest) -> HttpResponse:
    """`/signals/`: what awaits review, most important first. All filters are in the address."""
    filters, wrong = presenting.filters_of(request.GET)
    try:
        page = selectors.signals_page(request.caller, filters, request.GET.get("after", ""))
    except selectors.BadCursor:
        page = selectors.signals_page(request.caller, filters)
    return render(request, "audit/signals.html", {
        "page": page, "rows": presenting.rows_of(page.rows, request.caller),
        "wrong": wrong, **presenting.tools(request, filters),
    })  # fmt: skip


@require_POST
def signal_review(request: CallerRequest, pk: int) -> HttpResponse:
    """`/signals/<id>/review`: a verdict. Answers the signal's fragment when asked with `X-Fragment: 1`, else goes back.

    A refused fragment says why as plain text, with the status, so that a script never takes it for a success.
    """
    bare = request.headers.get(FRAGMENT) == "1"
    signal = selectors.signal_for(request.caller, pk)
    try:
        review(request.caller, signal, request.POST.get("verdict", "?"), request.POST.get("note", ""))
    except PermissionDenied as error:
        if bare:
            return _plain(str(error), 403)
        raise
    except BadReview as error:
        if bare:
            return _plain(str(error), 422)
        messages.error(request, str(error))
        return redirect(_back(request, signal))
    if not bare:
        return redirect(_back(request, signal))
    row = presenting.row_of(selectors.found_for(request.caller, signal), request.caller)
    response = render(request, "audit/_verdict.html", {
        "row": row, "may_review": row.may_review, "review_next": _back(request, signal),
    })  # fmt: skip
    response[FRAGMENT] = "1"
    response["Cache-Control"] = "no-store"
    return response


@require_safe
def signals_jsonl(request: CallerRequest) -> HttpResponseBase:
    """`/signals/export.jsonl`: one signal a line, with its review (docs/record.md). The filters of the page."""
    return _export(request, export.jsonl, JSONL, "jsonl")


@require_safe
def signals_csv(request: CallerRequest) -> HttpResponseBase:
    """`/signals/export.csv`: the same for spreadsheets."""
    return _export(request, export.table, CSV, "csv")


def _export(
    request: CallerRequest, lines: Callable[[Iterable[selectors.Found]], Iterator[str]], media: str, ending: str
) -> HttpResponseBase:
    """A file that looks whole must be what was asked for: a filter that means nothing is refused here."""
    filters, wrong = presenting.filters_of(request.GET)
    if wrong:
        names = ", ".join(wrong)
        return _plain(
            _("Part of this address means nothing here: %(names)s. Nothing was exported.") % {"names": names}, 400
        )
    return download(lines(selectors.every(request.caller, filters)), media, f"signals.{ending}")


def _plain(words: str, status: int) -> HttpResponse:
    return HttpResponse(words, status=status, content_type="text/plain; charset=utf-8")


def _back(request: CallerRequest, signal: Signal) -> str:
    """Where the form says, when that is here; else the signal's place on the page of its compaction."""
    wanted = request.POST.get("next", "")
    if wanted.startswith("/") and url_has_allowed_host_and_scheme(
        wanted, {request.get_host()}, require_https=request.is_secure()
    ):
        return wanted
    return presenting.place_of(signal)
