"""One original event under a summary, in pieces, also beyond what of its text is stored in rows."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from audit.core.marks import JOINT
from audit.page import Columns, Selected
from audit.presenting_originals import PIECE, piece_of
from audit.selectors_facts import is_leaf, messages_at
from audit.views import FRAGMENT, found_for
from dshweb.access.callers import CallerRequest
from dshweb.sessionlog.core.messages import parse_message
from dshweb.sessionlog.models import LogFile, Message
from dshweb.sessionlog.services.evidence import LogEvents
from dshweb.ui.query import whole_number


@require_safe
def original(request: CallerRequest, pk: int, seq: int) -> HttpResponse:
    """`/compactions/<id>/originals/<seq>?from=&to=`: characters of one leaf with its marks, at most PIECE at once.

    A piece of HTML when asked with `X-Fragment: 1`, else a page. Not a leaf of this summary: 404.
    """
    row, audit, rounds, _older = found_for(request, pk, content=True)
    columns = Columns(request.caller, row, audit, rounds)
    message = messages_at(row, [seq]).get(seq) if is_leaf(columns.seqs, seq) else None
    if message is None:
        raise Http404
    start = whole_number(request, "from") or 0
    end = min(whole_number(request, "to") or message.chars, message.chars)
    if start >= max(end, 1):
        raise Http404
    marks = columns.marks([seq], summary=False)
    marker = columns.marker(marks, "l", Selected())
    address = reverse("original", args=[pk, seq])
    text = _text(row.log, message, start, end)
    html = piece_of(marker, text, marks.leaves.get(seq, ()), start=start, end=end, address=address)
    if request.headers.get(FRAGMENT) == "1":
        return HttpResponse(html)
    return render(request, "audit/original.html", {
        "compaction": row, "session": row.session, "row": message, "html": html, "start": start,
        "before": max(0, start - PIECE) if start else None,
    })  # fmt: skip


def _text(log: LogFile, message: Message, start: int, end: int) -> str:
    """The stored text where it suffices, else the masked text from the log's own bytes."""
    if min(end, start + PIECE) <= len(message.text) or message.chars <= len(message.text):
        return message.text
    try:
        with LogEvents(log) as events:
            event = events.get(message.seq)
            parsed = parse_message(event) if event is not None else None
    except FileNotFoundError:
        parsed = None
    if parsed is None:
        if start >= len(message.text):
            raise Http404(_("The stored log is no longer there."))
        return message.text
    return JOINT.join(block.text for block in parsed.blocks)
