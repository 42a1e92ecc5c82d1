"""The profiles of the caller's teams: what each saves, whether the engine holds it, and making and naming them.

Rule: issue 5, DECISIONS 8. Which file of this machine a profile names is said by who runs the server alone: it is read and written with
the server's rights.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_safe

from compaction import selectors
from compaction.core.keys import BY_NAME
from compaction.models import Profile
from compaction.page.history import profile_of
from compaction.page.values import said
from dshweb.access.callers import Caller, CallerRequest
from dshweb.access.forms import Dressed
from dshweb.access.models import Team
from dshweb.access.page_forms import plain
from dshweb.access.services.log import note_access
from dshweb.ui.query import whole_number

PAGE: Final = 100


@dataclass(frozen=True, slots=True)
class Row:
    """`engine`: `held` (what is saved), `reload` (something else), `none` (no engine has started with it yet)."""

    profile: Profile
    mode: str
    mode_is_set: bool
    engine: str
    may_change: bool


class ProfileForm(Dressed, forms.Form):
    """`path` is a field for those who run the server only."""

    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=120,
        validators=[plain],
        help_text=gettext_lazy("As in dsh --profile NAME."),
    )
    machine = forms.CharField(
        label=gettext_lazy("Machine"), max_length=200, required=False, validators=[plain],
        help_text=gettext_lazy("Where it runs, if several machines have a profile of that name."),
    )  # fmt: skip
    path = forms.CharField(
        label=gettext_lazy("Its cordis.patch.yml on this server"), max_length=1000, required=False,
        validators=[plain, *Profile._meta.get_field("path").validators],
    )  # fmt: skip
    is_default = forms.BooleanField(label=gettext_lazy("The team's default"), required=False)

    def __init__(self, *args: Any, names_files: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not names_files:
            del self.fields["path"]

    def clean_path(self) -> str:
        """In the one form that is compared later on."""
        path = self.cleaned_data["path"]
        return str(PurePosixPath(path)) if path else ""


@require_safe
def profile_list(request: CallerRequest) -> HttpResponse:
    """`?page=`: a hundred profiles each."""
    return _page(request)


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: CallerRequest) -> HttpResponse:
    """For admins; the form stands on the list, and this is its address when something in it is wrong."""
    team = _team(request.caller, request.POST.get("team", ""))
    if request.method != "POST":
        return _page(request)
    _only_who_runs_it_names_files(request)
    form = ProfileForm(request.POST, names_files=names_files(request))
    if not form.is_valid():
        return _page(request, form, team=team)
    made = _kept(Profile(team=team), form)
    if made is None:
        return _page(request, form, team=team)
    _note_path(request, made, "")
    messages.success(
        request, _("The profile %(name)s was made. All its settings are at their defaults.") % {"name": made}
    )
    return redirect("profile-settings", pk=made.pk)


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: CallerRequest, pk: int) -> HttpResponse:
    """Name, machine, file and default; settings are no part of it."""
    row = profile_of(request.caller, pk)
    if not request.caller.is_admin(row.team_id):
        raise PermissionDenied
    if request.method != "POST":
        values = {"name": row.name, "machine": row.machine, "path": row.path, "is_default": row.is_default}
        return _page(request, ProfileForm(initial=values, names_files=names_files(request)), edited=row)
    _only_who_runs_it_names_files(request)
    form, before = ProfileForm(request.POST, names_files=names_files(request)), row.path
    if not form.is_valid() or _kept(row, form) is None:
        return _page(request, form, edited=row)
    _note_path(request, row, before)
    messages.success(request, _("Saved."))
    return redirect("profiles")


def names_files(request: CallerRequest) -> bool:
    """As in the admin (`compaction.admin.ProfileAdmin`): the server's own rights are at stake."""
    return bool(request.user.is_superuser)


def _only_who_runs_it_names_files(request: CallerRequest) -> None:
    if "path" in request.POST and not names_files(request):
        raise PermissionDenied


def _team(caller: Caller, slug: str) -> Team:
    """The team a profile is made in: one the caller administers. Others of theirs are 403, everybody else's 404."""
    mine = Team.objects.filter(pk__in=caller.team_ids).order_by("name", "pk")
    if slug:
        found = mine.filter(slug=slug).first()
        if found is None:
            raise Http404
    else:
        found = mine.filter(pk__in=_administered(caller)).first()
    if found is None or not caller.is_admin(found.pk):
        raise PermissionDenied
    return found


def _administered(caller: Caller) -> list[int]:
    return [pk for pk in caller.team_ids if caller.is_admin(pk)]


def _kept(row: Profile, form: ProfileForm) -> Profile | None:
    """Saves what the form says; None when another profile has that name, which the form then tells.

    The default stays with the team until another one takes it. A file of another name was never looked at.
    """
    values = form.cleaned_data
    first = values["is_default"] and not row.is_default
    row.name, row.machine = values["name"], values["machine"]
    if "path" in values and values["path"] != row.path:
        row.path, row.file_digest = values["path"], ""
    row.is_default = row.is_default or values["is_default"]
    fields = ["name", "machine", "path", "file_digest", "is_default"]
    try:
        with transaction.atomic():
            if first:
                others = Profile.objects.for_team(row.team_id).filter(is_default=True)
                others.exclude(pk=row.pk).update(is_default=False)
            row.save(update_fields=fields if row.pk else None)
    except IntegrityError:
        taken = Profile.objects.for_team(row.team_id).filter(name=row.name, machine=row.machine).exclude(pk=row.pk)
        if taken.exists():
            form.add_error("name", _("The team has a profile of this name on that machine."))
        else:
            form.add_error("is_default", _("Somebody else has just chosen another default. Look, and send it again."))
        return None
    return row


def _note_path(request: CallerRequest, row: Profile, before: str) -> None:
    if row.path != before:
        note_access(row.team_id, "profile-file-named", str(row), caller=request.caller)


def _page(
    request: CallerRequest, form: ProfileForm | None = None, *, team: Team | None = None, edited: Profile | None = None
) -> HttpResponse:
    caller = request.caller
    number = min(max(whole_number(request, "page") or 1, 1), 10_000)
    start = (number - 1) * PAGE
    ordered = selectors.profiles(caller).order_by("team__name", "team_id", "-is_default", "name", "machine", "pk")
    found = list(ordered[start : start + PAGE + 1])
    administered = list(Team.objects.filter(pk__in=_administered(caller)).order_by("name", "pk"))
    return render(request, "compaction/profiles.html", {
        "rows": [_row(one, caller) for one in found[:PAGE]],
        "several_teams": len(caller.team_ids) > 1, "no_team": not caller.team_ids,
        "number": number, "more": len(found) > PAGE,
        "form": form or (ProfileForm(names_files=names_files(request)) if administered else None),
        "teams_of_mine": administered, "team_now": team.slug if team else "", "edited": edited,
        "names_files": names_files(request), "section": "profiles",
    })  # fmt: skip


def _row(profile: Profile, caller: Caller) -> Row:
    snapshot = getattr(profile, "snapshot", None)
    engine = "none" if snapshot is None else "reload" if selectors.reload_needed(profile) else "held"
    mode = profile.document.get("mode", BY_NAME["mode"].default)
    return Row(profile, said("mode", mode), "mode" in profile.document, engine, caller.is_admin(profile.team_id))
