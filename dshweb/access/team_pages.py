"""The pages of a team: members and their rights, login links, settings, tokens. All see them, admins change them."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dshweb.access import selectors
from dshweb.access.account import revoke
from dshweb.access.callers import CallerRequest
from dshweb.access.models import ApiToken, Membership, Role, Team, User
from dshweb.access.page_forms import ROLE_WORDS, VISIBILITY_WORDS, MemberForm, NewTeamForm, RightsForm, TeamForm
from dshweb.access.services import members, once, teams

ROLES = [(role.value, role.label, words) for role, words in ROLE_WORDS.items()]
VISIBILITIES = [(one.value, one.label, words) for one, words in VISIBILITY_WORDS.items()]


def administered(request: CallerRequest, slug: str) -> Team:
    """The team, for its admins. Others of the team get 403, everybody else 404."""
    team = selectors.team_of(request.caller, slug)
    if not request.caller.is_admin(team.pk):
        raise PermissionDenied
    return team


@require_safe
def team_list(request: CallerRequest) -> HttpResponse:
    return render(request, "access/teams.html", {"memberships": selectors.memberships(request.user)})


@require_http_methods(["GET", "HEAD", "POST"])
def team_new(request: CallerRequest) -> HttpResponse:
    """For superusers, who run the server. The maker is the team's first admin."""
    if not request.user.is_superuser:
        raise PermissionDenied
    form = NewTeamForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = teams.make(form.cleaned_data["name"], form.cleaned_data["slug"], by=request.user)
            return redirect("team", slug=made.slug)
        except IntegrityError:
            form.add_error("slug", _("This short name is taken."))
    return render(request, "access/team_new.html", {"form": form})


@require_safe
def team(request: CallerRequest, slug: str) -> HttpResponse:
    return _team_page(request, selectors.team_of(request.caller, slug))


def _team_page(request: CallerRequest, row: Team, **forms: Any) -> HttpResponse:
    admin = request.caller.is_admin(row.pk)
    rows = list(selectors.members(row))
    context: dict[str, Any] = {
        "team": row,
        "admin": admin,
        "members": rows,
        "roles": ROLES,
        "visibilities": VISIBILITIES,
    }
    if admin:
        settings = {"name": row.name, "content_visibility": row.content_visibility}
        context |= {
            "tokens": selectors.tokens_in(row), "once": once.word(),
            "add_form": forms.get("add") or MemberForm(initial={"role": Role.MEMBER}),
            "team_form": forms.get("settings") or TeamForm(initial=settings),
        }  # fmt: skip
    return render(request, "access/team.html", context)


@require_POST
def team_settings(request: CallerRequest, slug: str) -> HttpResponse:
    row = administered(request, slug)
    form = TeamForm(request.POST)
    if not form.is_valid():
        return _team_page(request, row, settings=form)
    if teams.change(row, form.cleaned_data["name"], form.cleaned_data["content_visibility"], by=request.user):
        messages.success(request, _("Saved."))
    return redirect("team", slug=slug)


@never_cache
@require_POST
def member_add(request: CallerRequest, slug: str) -> HttpResponse:
    """An existing person, or with `new` a new account, whose login link is in this answer and nowhere else."""
    row = administered(request, slug)
    form = MemberForm(request.POST)
    if not form.is_valid():
        return _team_page(request, row, add=form)
    values = form.cleaned_data
    rights: dict[str, Any] = {"role": values["role"], "can_review": values["can_review"], "by": request.user}
    try:
        if values["new"]:
            if not once.first(request.POST.get("once", ""), request.user.pk):
                return _sent_before(request, slug)
            made, secret = members.add_new(row, values["username"], **rights)
            return _show_link(request, made, secret)
        person = User.objects.filter(username=values["username"], is_active=True).first()
        if person is None:
            form.add_error("username", _("Nobody here has this name. For a new person choose “a new person”."))
            return _team_page(request, row, add=form)
        members.add(row, person, **rights)
    except members.Refused as reason:
        form.add_error("username", str(reason))
        return _team_page(request, row, add=form)
    messages.success(request, _("%(person)s is a member now.") % {"person": person})
    return redirect("team", slug=slug)


def _member(row: Team, pk: int) -> Membership:
    return get_object_or_404(selectors.members(row), pk=pk)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def member(request: CallerRequest, slug: str, pk: int) -> HttpResponse:
    """Rights of one member. Giving up one's own admin rights needs `sure`."""
    row = _member(administered(request, slug), pk)
    own = row.user_id == request.user.pk
    form = RightsForm(request.POST or None, initial={"role": row.role, "can_review": row.can_review})
    if request.method == "POST" and form.is_valid():
        values = form.cleaned_data
        if own and values["role"] != Role.ADMIN and "sure" not in request.POST:
            form.add_error(
                "role",
                _("You would be admin here no longer and could not undo it. Tick the box below if you mean it."),
            )
        else:
            try:
                if members.change(row, values["role"], can_review=values["can_review"], by=request.user):
                    messages.success(request, _("The rights of %(person)s were changed.") % {"person": row.user})
                return redirect("team", slug=slug)
            except members.Refused as reason:
                form.add_error("role", str(reason))
    return render(request, "access/member.html", {
        "team": row.team, "row": row, "form": form, "own": own, "roles": ROLES, "once": once.word(),
        "why_no_link": members.why_no_link(row.user, request.user),
        "ask_sure": own and form.is_bound,
    })  # fmt: skip


@never_cache
@require_POST
def member_link(request: CallerRequest, slug: str, pk: int) -> HttpResponse:
    row = _member(administered(request, slug), pk)
    if not once.first(request.POST.get("once", ""), request.user.pk):
        return _sent_before(request, slug)
    try:
        return _show_link(request, row, members.new_link(row, by=request.user))
    except members.Refused as reason:
        messages.error(request, str(reason))
        return redirect("team-member", slug=slug, pk=pk)


@require_POST
def member_remove(request: CallerRequest, slug: str, pk: int) -> HttpResponse:
    row = _member(administered(request, slug), pk)
    if row.user_id == request.user.pk:
        messages.error(request, _("Leave the team on your account page, so that it does not happen by accident."))
        return redirect("team-member", slug=slug, pk=pk)
    try:
        members.remove(row, by=request.user)
    except members.Refused as reason:
        messages.error(request, str(reason))
        return redirect("team-member", slug=slug, pk=pk)
    messages.success(
        request, _("%(person)s is no member any more; their tokens for this team were revoked.") % {"person": row.user}
    )
    return redirect("team", slug=slug)


@require_POST
def team_token_revoke(request: CallerRequest, slug: str, pk: int) -> HttpResponse:
    row = administered(request, slug)
    revoke(request, get_object_or_404(ApiToken.objects.for_team(row).select_related("team"), pk=pk))
    return redirect("team", slug=slug)


def _show_link(request: CallerRequest, row: Membership, secret: str) -> HttpResponse:
    url = request.build_absolute_uri(reverse("login-link", args=[secret]))
    return render(request, "access/link_made.html", {"team": row.team, "row": row, "url": url})


def _sent_before(request: CallerRequest, slug: str) -> HttpResponse:
    messages.warning(
        request,
        _("This form was sent before. A login link is shown once: make a new one for the person if it got lost."),
    )
    return redirect("team", slug=slug)
