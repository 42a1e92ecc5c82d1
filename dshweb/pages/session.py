"""One session: facts, logs, compactions and the conversation; what is new of it; one message alone."""

from __future__ import annotations

from typing import Any

from django.db.models import Max, OuterRef, Subquery
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.cache import get_conditional_response
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

from audit.models import Audit
from audit.selectors import Line, latest
from dshweb.access.callers import Caller, CallerRequest
from dshweb.pages.panels import Panels
from dshweb.pages.sessions import seconds_of
from dshweb.sessionlog import conversation, finding, selectors
from dshweb.sessionlog.conversation import Item, Window
from dshweb.sessionlog.finding import Hit
from dshweb.sessionlog.models import Compaction, Frame, LogFile, Session
from dshweb.sessionlog.selectors import Lineage, may_see_content
from dshweb.sessionlog.services.sessions import opened_by_dsh
from dshweb.sessionlog.words import DAMAGE, author_words, damage_report, warnings_of
from dshweb.ui.query import whole_number

LISTED_ATTEMPTS = 60
LISTED_FRAMES = 40
MOST_PIECES = 1000  # of one message on its own page


@require_safe
def page(request: CallerRequest, pk: int) -> HttpResponse:
    """`/sessions/<id>/`: one session, its logs, compactions and messages.

    `?log=` one of its logs, `?at=` a position, `?seq=` a seq, `?end` its last messages, `?find=` words (`?more=` further hits).
    """
    row = get_object_or_404(selectors.sessions(request.caller), pk=pk)
    panels = Panels()
    logs = selectors.logs_of(row)
    log = chosen(logs, row, whole_number(request, "log"))
    visible = may_see_content(request.caller, row)
    return render(request, "sessionlog/session.html", {
        "session": row, "logs": logs, "log": log, "visible": visible, "seconds": seconds_of(row),
        "opened": opened_by_dsh(logs), "warnings": warnings_of(row),
        "lineage": panels.make("lineage", lambda: selectors.lineage(row), Lineage()),
        "may_delete": may_delete(request.caller, row),
        **(_of_log(request, log, panels, visible=visible) if log else {}), "failed": panels.failed,
    })  # fmt: skip


def _of_log(request: CallerRequest, log: LogFile, panels: Panels, *, visible: bool) -> dict[str, Any]:
    attempts = selectors.compactions_of(log)
    none: dict[int, Line] = {}
    no_frames: list[tuple[Frame, Any]] = []
    lines = panels.make("audits", lambda: latest(request.caller, [row.pk for row in attempts]), none)
    start, seq = whole_number(request, "at") or 0, whole_number(request, "seq")
    end = "end" in request.GET
    window = conversation.window(log, attempts, start=start, seq=seq, end=end) if visible else None
    return {
        "attempts": [(row, lines.get(row.pk)) for row in attempts[:LISTED_ATTEMPTS]],
        "more_attempts": attempts[LISTED_ATTEMPTS:],
        "window": window,
        "flow": flow_of(window, lines, seq) if window else [],
        "report": panels.make("report", lambda: damage_report(log), None),
        "frames": panels.make("report", lambda: _bad_frames(log), no_frames),
        **(_found(request, log, panels) if visible else {}),
    }


def _bad_frames(log: LogFile) -> list[tuple[Frame, Any]]:
    """The frames that could not be read whole, with the reason in words. A log without a damage report has none."""
    if not log.damage:
        return []
    rows = Frame.unscoped.filter(log=log).exclude(code="").order_by("offset")[:LISTED_FRAMES]
    return [(row, DAMAGE.get(row.code, row.code)) for row in rows]


def _found(request: CallerRequest, log: LogFile, panels: Panels) -> dict[str, Any]:
    words = request.GET.get("find", "").strip()[:200]
    if not words:
        return {"find": ""}
    after = whole_number(request, "more")
    nothing: tuple[list[Hit], int | None] = ([], None)
    hits, more = panels.make("find", lambda: finding.hits(log, request.caller, words, after=after), nothing)
    return {"find": words, "hits": hits, "more_hits": more}


def flow_of(window: Window, lines: dict[int, Line], wanted: int | None = None) -> list[dict[str, Any]]:
    """The window's messages and compactions with what a template needs beside them; a call whose result is `wanted` is open."""
    return [
        {"attempt": one, "line": lines.get(one.pk)} if isinstance(one, Compaction) else shown(one, wanted)
        for one in window.flow
    ]


def shown(item: Item, wanted: int | None = None, most: int = conversation.PIECES) -> dict[str, Any]:
    """A message with who really wrote it, and the results under its calls likewise; `left`: pieces beyond the first `most`."""
    return {
        "item": item,
        "row": item.row,
        "author": author_words(item.row.type, item.row.author, item.row.human),
        "open": any(result.row.seq == wanted for piece in item.pieces for result in piece.results),
        "pieces": [(piece, [shown(result) for result in piece.results]) for piece in item.pieces[:most]],
        "left": max(0, len(item.pieces) - most),
    }


@require_safe
def live(request: CallerRequest, pk: int) -> HttpResponse:
    """`/sessions/<id>/live?log=&at=`: the conversation from a position on, for a page that follows a session being written.

    With the `ETag` of the last answer as `If-None-Match` one small query tells that nothing is new (FR-094).
    """
    audits = Audit.unscoped.filter(compaction__log=OuterRef("current")).order_by().values("compaction__log")
    newest = Subquery(audits.annotate(newest=Max("pk")).values("newest"))
    row: Any = get_object_or_404(selectors.sessions(request.caller).annotate(newest_audit=newest), pk=pk)
    if not may_see_content(request.caller, row) or row.current is None:
        raise Http404
    log, start = row.current, whole_number(request, "at") or 0
    if whole_number(request, "log") != log.pk:
        raise Http404
    tag = f'"{log.pk}.{log.revision}.{row.newest_audit or 0}.{start}.{get_language()}"'
    same = get_conditional_response(request, etag=tag)
    if same is not None:
        return same
    window = conversation.window(log, selectors.compactions_of(log), start=start)
    lines = latest(request.caller, [one.pk for one in window.flow if isinstance(one, Compaction)])
    response = render(request, "sessionlog/_live.html", {
        "session": row, "log": log, "window": window, "flow": flow_of(window, lines),
    })  # fmt: skip
    response["ETag"] = tag
    response["Cache-Control"] = "private, no-cache"
    return response


@require_safe
def message(request: CallerRequest, pk: int, message: int) -> HttpResponse:
    """`/sessions/<id>/messages/<id>/`: one message, uncut."""
    row = get_object_or_404(selectors.sessions(request.caller), pk=pk)
    if not may_see_content(request.caller, row):
        raise Http404
    found = get_object_or_404(selectors.messages_of(row), pk=message)
    return render(request, "sessionlog/message.html", {
        "session": row, "log": found.log, "shown": shown(conversation.around(found.log, found), most=MOST_PIECES),
    })  # fmt: skip


def chosen(logs: list[LogFile], session: Session, wanted: int | None) -> LogFile | None:
    """The log asked for, else the current one, else any. One that is not this session's is not found."""
    if wanted is not None:
        found = [log for log in logs if log.pk == wanted]
        if not found:
            raise Http404
        return found[0]
    return next((log for log in logs if log.pk == session.current_id), logs[0] if logs else None)


def may_delete(caller: Caller, session: Session) -> bool:
    """The session's owner while allowed to bring logs in, and the team's admins in person."""
    own = session.owner_id == caller.user.pk and caller.may_ingest(session.team_id)
    return own or caller.is_admin(session.team_id)
