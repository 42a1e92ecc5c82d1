"""The page of sources: registered folders, and every file seen, also those that could not be read."""

from __future__ import annotations

from pathlib import Path

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from dshweb.access.callers import CallerRequest
from dshweb.access.models import Team
from dshweb.sessionlog import places, selectors
from dshweb.sessionlog.models import Source
from dshweb.sessionlog.services.requests import request_ingest
from dshweb.ui.query import whole_number


@require_safe
def sources(request: CallerRequest) -> HttpResponse:
    """`/sources/`: `?after=` pages the files, `?troubled` shows only those with something to look at."""
    after, troubled = whole_number(request, "after"), "troubled" in request.GET
    files = selectors.files_page(request.caller, after, troubled=troubled)
    shown = files[: selectors.PAGE]
    caller, teams = request.caller, Team.objects.in_bulk(request.caller.team_ids)
    folders = [
        (row, places.folder(caller, row), caller.may_ingest(row.team_id)) for row in selectors.sources_of(caller)
    ]
    return render(request, "sessionlog/sources.html", {
        "folders": folders, "counts": selectors.file_counts(request.caller),
        "troubled": troubled, "first": after is None,
        "files": [
            (row, places.file(caller, row, teams), selectors.may_see_file(caller, row),
             places.may_bring_back(caller, row, teams[row.team_id]))
            for row in shown
        ],
        "ingests": {team for team in teams if caller.may_ingest(team)},
        "more": shown[-1].pk if len(files) > selectors.PAGE else None,
    })  # fmt: skip


@require_POST
def scan(request: CallerRequest, pk: int) -> HttpResponse:
    source = get_object_or_404(Source.objects.for_caller(request.caller), pk=pk)
    if not request.caller.may_ingest(source.team_id):
        raise PermissionDenied
    task = request_ingest(source.team_id, Path(source.path), owner=source.owner_id, by=request.caller.user)
    messages.info(request, _("The scan was asked for. A worker does it; nothing is lost if you leave this page."))
    return redirect("task", pk=task.pk)
