"""Any event of a session's log: as a list, and one whole. Masked; the unmasked original only by a step that is written down."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from dshweb.access.callers import Caller, CallerRequest
from dshweb.access.services.log import note_access
from dshweb.pages.session import chosen
from dshweb.sessionlog import selectors
from dshweb.sessionlog.core.events import Event
from dshweb.sessionlog.models import LogFile, Session
from dshweb.sessionlog.selectors import may_see_content
from dshweb.sessionlog.services import events
from dshweb.sessionlog.services.events import Place, Unreadable
from dshweb.sessionlog.services.masking import masker_for
from dshweb.sessionlog.services.rows import moment
from dshweb.ui.query import whole_number

READ_ORIGINAL = "read-original"
LISTED = 100
WINDOW_CHARS = 40_000


def _log_of(request: CallerRequest, pk: int) -> tuple[Session, LogFile]:
    """The session and the log asked for; what the caller may not read is not there."""
    row = get_object_or_404(selectors.sessions(request.caller), pk=pk)
    if not may_see_content(request.caller, row):
        raise Http404
    log = chosen(selectors.logs_of(row), row, whole_number(request, "log"))
    if log is None:
        raise Http404
    return row, log


@require_safe
def listing(request: CallerRequest, pk: int) -> HttpResponse:
    """`/sessions/<id>/events/`: all events, also those that are no messages. `?from=` a seq, `?at=` the place of a page."""
    row, log = _log_of(request, pk)
    start, from_seq = Place.read(request.GET.get("at", "")), whole_number(request, "from")
    try:
        page = events.page(log, start=start, from_seq=from_seq, limit=LISTED)
    except Unreadable:
        page = None
    first = start is None and from_seq is None
    return render(request, "sessionlog/events.html", {
        "session": row, "log": log, "page": page, "first": first, "wanted": from_seq,
        "earlier": max(0, page.rows[0].event.seq - LISTED) if page and page.rows and page.rows[0].place.row else None,
    })  # fmt: skip


@require_safe
def event(request: CallerRequest, pk: int, seq: int) -> HttpResponse:
    """`/sessions/<id>/events/<seq>`: the event as its row says it, masked. `?part=` of a huge one."""
    row, log = _log_of(request, pk)
    found, gone = _at(log, seq)
    try:
        texts = [(one, events.pretty(events.masked_document(log, one))) for one in found]
    except Unreadable:
        texts, gone = [], True
    return _page(request, row, log, seq, texts, gone=gone)


@never_cache
@require_POST
def original(request: CallerRequest, pk: int, seq: int) -> HttpResponse:
    """`/sessions/<id>/events/<seq>/original`: unmasked, for the session's owner and the team's admins; noted before it is read."""
    row, log = _log_of(request, pk)
    if not may_read_original(request.caller, row):
        raise PermissionDenied
    note_original(request.caller, row, seq)
    found, gone = _at(log, seq)
    texts = [(one, events.pretty(events.document(one))) for one in found]
    return _page(request, row, log, seq, texts, gone=gone, original=True)


def may_read_original(caller: Caller, session: Session) -> bool:
    """The session's owner, by browser or own token, and admins of its team in person (DECISIONS 4)."""
    return session.team_id in caller.grants and (session.owner_id == caller.user.pk or caller.is_admin(session.team_id))


def note_original(caller: Caller, session: Session, seq: int | str) -> None:
    note_access(session.team_id, READ_ORIGINAL, f"session {session.session_id} seq {seq}", caller=caller)


def _at(log: LogFile, seq: int) -> tuple[list[Event], bool]:
    """The events, or that the stored log cannot be read. Raises Http404 when the log has no such event."""
    try:
        found = events.at_seq(log, seq)
    except Unreadable:
        return [], True
    if not found:
        raise Http404
    return found, False


def _page(
    request: CallerRequest, row: Session, log: LogFile, seq: int, texts: list[tuple[Event, str]], *, gone: bool,
    original: bool = False,
) -> HttpResponse:  # fmt: skip
    part = request.POST.get("part", "") if original else request.GET.get("part", "")
    start = int(part) * WINDOW_CHARS if part.isascii() and part.isdigit() and len(part) < 9 else 0
    shown: list[dict[str, Any]] = []
    for one, text in texts[: events.ALIKE]:
        shown.append({
            "event": one,
            "type": one.type if original else masker_for(log.team_id).mask_text(one.type),
            "at": moment(one.time),
            "size": len(one.data),
            "text": text[start : start + WINDOW_CHARS],
            "chars": len(text),
            "from": start,
            "until": min(len(text), start + WINDOW_CHARS),
        })  # fmt: skip
    number = start // WINDOW_CHARS
    response = render(request, "sessionlog/event.html", {
        "session": row, "log": log, "seq": seq, "shown": shown, "gone": gone, "original": original,
        "more": len(texts) > events.ALIKE,
        "may_read_original": may_read_original(request.caller, row),
        "earlier": number - 1 if number else None,
        "later": number + 1 if any(len(text) > start + WINDOW_CHARS for _one, text in texts) else None,
        "previous": seq - 1 if seq else None, "next": seq + 1 if log.last_seq is None or seq < log.last_seq else None,
    })  # fmt: skip
    response["Cache-Control"] = "private, no-store" if original else "private, no-cache"
    return response
