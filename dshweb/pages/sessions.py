"""The pages about sessions. They show logs and judgements together, so they stand above both apps."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from audit.selectors import latest, worst_of
from dshweb.access.callers import CallerRequest
from dshweb.sessionlog import selectors
from dshweb.sessionlog.models import LogFile, LogStatus, Message, Session
from dshweb.sessionlog.selectors import Filters, may_see_content
from dshweb.sessionlog.words import author_words, damage_report, warnings_of
from dshweb.ui.query import whole_number

SHOWN_LINES = 24


@require_safe
def listing(request: CallerRequest) -> HttpResponse:
    """`/sessions/`: newest first, each with its worst audit."""
    get = request.GET
    filters = Filters(get.get("q", "").strip()[:200], get.get("model", ""), get.get("status", ""), "compacted" in get)
    page = selectors.sessions_page(request.caller, get.get("after", ""), filters)
    worst = worst_of(request.caller, [row.current_id for row in page.rows])
    rows = [(row, may_see_content(request.caller, row), worst.get(row.current_id)) for row in page.rows]
    query = get.copy()
    query.pop("after", None)
    return render(request, "sessionlog/sessions.html", {
        "page": page, "rows": rows, "filters": filters, "query": query.urlencode(),
        "models": selectors.models_of(request.caller), "statuses": LogStatus.choices,
    })  # fmt: skip


@require_safe
def session(request: CallerRequest, pk: int) -> HttpResponse:
    """`/sessions/<id>/`: one session, its logs, compactions and messages. `?log=`, `?at=` position, `?seq=`."""
    row = get_object_or_404(selectors.sessions(request.caller), pk=pk)
    logs = selectors.logs_of(row)
    log = _chosen(logs, row, whole_number(request, "log"))
    visible = may_see_content(request.caller, row)
    return render(request, "sessionlog/session.html", {
        "session": row, "logs": logs, "log": log, "visible": visible,
        "lineage": selectors.lineage(request.caller, row), "warnings": warnings_of(row),
        **(_of_log(request, log, visible) if log else {}),
    })  # fmt: skip


@require_safe
def message(request: CallerRequest, pk: int, message: int) -> HttpResponse:
    """`/sessions/<id>/messages/<id>/`: one message, uncut."""
    row = get_object_or_404(selectors.sessions(request.caller), pk=pk)
    if not may_see_content(request.caller, row):
        raise Http404
    found = get_object_or_404(selectors.messages_of(row), pk=message)
    return render(request, "sessionlog/message.html", {"session": row, "log": found.log, "item": _shown(found)})


def _of_log(request: CallerRequest, log: LogFile, visible: bool) -> dict[str, Any]:  # noqa: FBT001
    attempts = selectors.compactions_of(log)
    lines = latest(request.caller, [row.pk for row in attempts])
    start, seq = whole_number(request, "at") or 0, whole_number(request, "seq")
    return {
        "attempts": [(row, lines.get(row.pk)) for row in attempts],
        "window": _window(log, start, seq) if visible else None,
        "report": damage_report(log),
    }


def _window(log: LogFile, start: int, seq: int | None) -> dict[str, Any]:
    found = selectors.messages_window(log, start, seq)
    return {"rows": [_shown(row, found.doubled) for row in found.rows], "back": found.back, "on": found.on}


def _shown(row: Message, doubled: frozenset[str] = frozenset()) -> dict[str, Any]:
    """A message with who really wrote it. Injected text is what no human, assistant or tool wrote: it starts folded."""
    given = getattr(row, "shown", None) or ""
    lines = given.split("\n")
    return {
        "text": "\n".join(lines[:SHOWN_LINES]),
        "more": len(lines) > SHOWN_LINES or getattr(row, "stored", 0) > len(given),
        "row": row,
        "author": author_words(row.type, row.author, row.human),
        "injected": not row.human and row.type not in ("assistant/message", "tool/result"),
        "tool": row.type == "tool/result",
        "doubled": row.call_id in doubled and row.type == "tool/result",
    }


def _chosen(logs: list[LogFile], session: Session, wanted: int | None) -> LogFile | None:
    """The log asked for, else the current one, else any. One that is not this session's is not found."""
    if wanted is not None:
        found = [log for log in logs if log.pk == wanted]
        if not found:
            raise Http404
        return found[0]
    return next((log for log in logs if log.pk == session.current_id), logs[0] if logs else None)
