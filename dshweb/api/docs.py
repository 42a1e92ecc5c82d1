"""`/api/docs`: every call of the REST API on one page, made on the server from the OpenAPI document."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from dshweb.api.main import api
from dshweb.api.reference import reference

GROUPS = {
    "logs": _("Bringing logs in"),
    "tasks": _("Long work"),
    "sessions": _("Sessions"),
    "compactions": _("Compactions and their audits"),
    "signals": _("Signals and their review"),
    "profiles": _("Profiles, budgets and what-if"),
}
ROLES = {
    "viewer": _("every member of the team"),
    "member": _("members and admins"),
    "admin": _("admins"),
    "reviewer": _("members who may review"),
}
MEANINGS = {
    200: _("done"), 201: _("made"), 202: _("taken on, a worker does it"), 204: _("done, nothing to say"),
    206: _("a part"), 304: _("nothing changed"), 400: _("the call cannot be read"),
    401: _("no usable token and no login"), 403: _("role or scope does not allow it"),
    404: _("not there, or not for you to see"), 409: _("something else is there by now"),
    410: _("gone"), 411: _("the body's length is missing"), 412: _("something changed meanwhile"),
    413: _("too large"), 415: _("not a kind of body this call takes"), 416: _("no such part"),
    422: _("understood, but a value is wrong"), 429: _("too many calls, see Retry-After"),
    503: _("not now, see Retry-After"), 507: _("the server's disk is full"),
}  # fmt: skip


@cache
def _document() -> dict[str, Any]:
    return api.get_openapi_schema()


@login_not_required
@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    return render(request, "api/docs.html", {
        "reference": reference(_document(), f"{request.scheme}://{request.get_host()}"),
        "groups": GROUPS, "roles": ROLES, "meanings": MEANINGS,
    })  # fmt: skip
