"""`/profiles/<id>/compaction/`: the settings page. Its form is the draft; only `save` changes anything.

Rule: issue 5, seed «Visual page» and «Save and reload»; the plain version is in docs/decisions/0009-the-settings-page.md.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import BadRequest, PermissionDenied
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from compaction import selectors
from compaction.core.document import ops_between
from compaction.core.problem import InvalidSettings
from compaction.models import Profile
from compaction.page import draft as drafts
from compaction.page.draft import Draft
from compaction.page.shown import shown
from compaction.services import settings
from dshweb.access.callers import CallerRequest
from dshweb.sessionlog.selectors import sessions
from dshweb.ui.query import number_in


@require_http_methods(["GET", "HEAD", "POST"])
def page(request: CallerRequest, pk: int) -> HttpResponse:
    """`?session=` chooses what is looked at, `?from=` begins the draft with an earlier revision, `?saved=` tells of a save."""
    profile = get_object_or_404(selectors.profiles(request.caller), pk=pk)
    if request.method == "POST":
        if not request.caller.may_configure(profile.team_id):
            raise PermissionDenied
        return _sent(request, profile)
    earlier = request.GET.get("from", "") if request.caller.may_configure(profile.team_id) else ""
    return _page(request, profile, _begun(profile, earlier))


@require_safe
def of_session(request: CallerRequest, pk: int) -> HttpResponse:
    """`/sessions/<id>/settings`: the settings that answer for a session, with it chosen."""
    session = get_object_or_404(sessions(request.caller), pk=pk)
    profile = selectors.profiles(request.caller).filter(team=session.team_id, is_default=True).first()
    if profile is None:
        return HttpResponseRedirect(reverse("profiles"))
    return HttpResponseRedirect(f"{reverse('profile-settings', args=[profile.pk])}?session={session.pk}")


def _begun(profile: Profile, earlier: str) -> Draft:
    draft = Draft(profile.revision, profile.document, dict(profile.document))
    if not earlier:
        return draft
    revision = number_in(earlier)
    found = None if revision is None else settings.document_at(profile, revision)
    if found is None:
        raise Http404
    return Draft(profile.revision, profile.document, found)


def _sent(request: CallerRequest, profile: Profile) -> HttpResponse:
    revision = number_in(request.POST.get("revision", ""))
    if revision is None:
        raise BadRequest("the form names no revision")
    base = settings.document_at(profile, revision)
    draft = Draft(revision, base, drafts.read(request.POST, profile.document if base is None else base))
    action = request.POST.get("action", "")
    if action == "rebase":
        with suppress(InvalidSettings):  # half a pair goes nowhere: the page shows the conflict and what is wrong
            draft = Draft(profile.revision, profile.document, drafts.rebased(draft, profile.document))
    if action != "save":
        return _page(request, profile, draft)
    try:
        saved = settings.mutate(profile, ops_between(base or {}, draft.document), revision, by=request.user)
    except settings.Conflict as conflict:
        return _page(request, conflict.theirs, draft, status=409)
    except InvalidSettings as error:
        return _page(request, profile, draft, refused=error, status=422)
    query = urlencode({"saved": saved.profile.revision, "session": request.POST.get("session", "")})
    return HttpResponseRedirect(f"{reverse('profile-settings', args=[profile.pk])}?{query}")


def _page(
    request: CallerRequest,
    profile: Profile,
    draft: Draft,
    *,
    refused: InvalidSettings | None = None,
    status: int = 200,
) -> HttpResponse:
    asked = request.POST if request.method == "POST" else request.GET
    context: dict[str, Any] = shown(
        request.caller,
        profile,
        draft,
        session=asked.get("session", ""),
        refused=refused,
        saved=request.GET.get("saved", ""),
    )
    context["failed"] = status == 422
    context["section"] = "profiles"
    answer = render(request, "compaction/settings.html", context, status=status)
    answer["Cache-Control"] = "no-store"  # who comes back to it after a save must not meet what stood there before
    return answer
