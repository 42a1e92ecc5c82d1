"""Handing logs in by page: a form that works as it is, and what became of each file. `static/js/upload.js` sends one by one."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Max
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import condition, require_http_methods, require_safe

from audit.models import Audit
from audit.selectors import Worst, worst_of
from dshweb.access.callers import Caller, CallerRequest
from dshweb.access.models import Team
from dshweb.access.selectors import home_first
from dshweb.sessionlog.models import LogFile
from dshweb.sessionlog.receiving import FIELD, cut_off
from dshweb.sessionlog.selectors import may_see_content
from dshweb.sessionlog.services import uploads
from dshweb.sessionlog.services.inbox import Refused
from dshweb.sessionlog.words import DAMAGE
from dshweb.tasks.listing import progress
from dshweb.tasks.models import OPEN, State, Task
from dshweb.text.lines import one_line

MOST_SHOWN = 200
MOST_DAMAGE = 4


@dataclass(frozen=True)
class File:
    """One file that was handed in, as far as it is. `log` None: nothing of it could be read (yet)."""

    task: Task
    name: str
    size: int | None
    status: str
    changed: bool
    log: LogFile | None
    visible: bool
    worst: Worst
    attempts: int
    reason: str
    damage: list[str]
    share: float | None
    busy: bool


@require_http_methods(["GET", "HEAD", "POST"])
def upload(request: CallerRequest) -> HttpResponse:
    """`/upload/`: the form, and the files that it sends (several `file`, `team`)."""
    teams = list(Team.objects.filter(pk__in=request.caller.team_ids).order_by("name", "pk"))
    teams = [team for team in home_first(teams, request.user) if request.caller.may_ingest(team.pk)]
    if not teams:
        return render(request, "sessionlog/upload_forbidden.html", status=403)
    if request.method == "POST":
        return _take(request, teams)
    return render(request, "sessionlog/upload.html", {
        "into": teams, "most": settings.MAX_UPLOAD_BYTES, "send": reverse("api:post_log"), "field": FIELD,
        "server": request.build_absolute_uri("/").rstrip("/"),
    })  # fmt: skip


def _take(request: CallerRequest, teams: list[Team]) -> HttpResponse:
    wanted = request.POST.get("team", "")
    team = get_object_or_404(Team.objects.filter(pk__in=request.caller.team_ids), slug=wanted) if wanted else teams[0]
    if not request.caller.may_ingest(team.pk):
        raise PermissionDenied
    refused: list[tuple[str, Refused]] = list(getattr(request, "refused_files", []))
    taken = [] if cut_off(request) else request.FILES.getlist(FIELD)
    tasks = []
    for file in taken:
        try:
            received = uploads.accept(file.incoming, file.name, team=team, user=request.caller.user)  # type: ignore[attr-defined]
            tasks.append(received.task.pk)
        except Refused as reason:
            refused.append((str(file.name), reason))
    for name, why in refused:
        messages.error(request, f"{one_line(name)[:120]}: {why}" if name else str(why))
    if not tasks:
        if not refused:
            messages.error(request, _("Choose a file first."))
        return redirect("upload")
    return redirect(reverse("upload-results") + "?" + "&".join(f"task={pk}" for pk in tasks))


def _wanted(request: HttpRequest) -> list[int]:
    given = [text for text in request.GET.getlist("task") if text.isascii() and text.isdigit() and len(text) <= 18]
    return [int(text) for text in given[:MOST_SHOWN]]


def _mine(caller: Caller, pks: list[int]) -> Any:
    return Task.objects.for_caller(caller).filter(pk__in=pks, kind=uploads.KIND, created_by=caller.user)


def _etag(request: CallerRequest) -> str | None:
    """Changes when what is shown of these files does. Two light queries."""
    if "part" not in request.GET:
        return None
    rows = list(
        _mine(request.caller, _wanted(request)).order_by("id").values_list("id", "state", "done", "result__log")
    )
    logs = [row[3] for row in rows if row[3] is not None]
    audits = Audit.objects.for_caller(request.caller).filter(compaction__log__in=logs)
    state = repr(
        (rows, audits.aggregate(n=Count("id"), last=Max("id")) if logs else None, _audits_open(request.caller, logs))
    )
    return f'"{hashlib.sha256(state.encode()).hexdigest()[:24]}-{get_language()}"'


@require_safe
@condition(etag_func=_etag)
def results(request: CallerRequest) -> HttpResponse:
    """`/upload/results/?task=…`: what became of one's files; `?part` the changing part alone (304 while nothing changed)."""
    files = _files(request.caller, _wanted(request))
    context = {
        "files": files, "busy": any(file.busy for file in files), "query": request.GET.urlencode(),
        "done": sum(file.status in ("ok", "damaged", "unsupported") for file in files),
        "failed": sum(file.status == State.FAILED for file in files),
    }  # fmt: skip
    part = "part" in request.GET
    response = render(request, "sessionlog/_upload_files.html" if part else "sessionlog/upload_results.html", context)
    patch_cache_control(response, private=True, no_cache=True)
    return response


def _files(caller: Caller, pks: list[int]) -> list[File]:
    tasks = list(_mine(caller, pks).select_related("team").order_by("id"))
    ids = [(task.result or {}).get("log") for task in tasks]
    rows = LogFile.objects.for_caller(caller).filter(pk__in=[pk for pk in ids if pk is not None])
    rows = rows.select_related("session__team").annotate(attempts=Count("compactions"))
    logs = {log.pk: log for log in rows.defer("state", "header", "accounting", "damage")}
    worst = worst_of(caller, list(logs))
    audited = _audits_open(caller, list(logs))
    found = []
    for task in tasks:
        log = logs.get((task.result or {}).get("log"))
        line = worst.get(log.pk, Worst()) if log else Worst()
        shown = progress(task, caller)
        found.append(
            File(
                task=task,
                name=str(task.payload.get("name") or task.label),
                size=task.payload.get("size"),
                status=_status(task),
                changed=bool((task.result or {}).get("changed", True)),
                log=log,
                visible=log is not None and may_see_content(caller, log.session),
                worst=line,
                attempts=getattr(log, "attempts", 0),
                reason=_reason(task),
                damage=_damage(task),
                share=shown.share,
                busy=task.state in OPEN or bool(log and log.pk in audited),
            )
        )
    return found


def _reason(task: Task) -> str:
    """Why it failed, without the kind of the error and the name, which stand beside it."""
    kind, _colon, words = task.error.partition(": ")
    words = (words or task.error).removeprefix(f"{task.payload.get('name')}: ")
    return f"{_('Nothing in it is a session log.')} ({words})" if kind == uploads.NotALog.__name__ else words


def _damage(task: Task) -> list[str]:
    """What is damaged, in words, each once."""
    report = (task.result or {}).get("report") or {}
    codes = dict.fromkeys(str(entry.get("code")) for entry in report.get("damage", []))
    return [str(DAMAGE.get(code, code)) for code in codes][:MOST_DAMAGE]


def _status(task: Task) -> str:
    return str((task.result or {}).get("status", "")) if task.state == State.DONE else str(task.state)


def _audits_open(caller: Caller, logs: list[int]) -> set[int]:
    """Logs whose audit is still to be made."""
    keys = {f"log:{pk}": pk for pk in logs}
    rows = Task.objects.for_caller(caller).filter(kind="audit", key__in=list(keys), state__in=OPEN)
    return {keys[key] for key in rows.values_list("key", flat=True)}
