"""What the admin pages of all apps share: who is using them, which teams that person runs, rows that are only looked at.

The admin is for two kinds of people. A superuser is the operator of the installation and sees everything. Other staff
work for the teams they are admins of and see and choose nothing else; as team admins they may see content whatever the
team's `content_visibility` says (DECISIONS 3), so no page here needs to ask for it again.
"""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import ForeignKey, Model, Q, QuerySet
from django.http import HttpRequest

from dshweb.access.models import Membership, Role, Team, User
from dshweb.access.scoping import TeamOwned


def person(request: HttpRequest) -> User:
    """Who is using the admin. It lets in only people who are logged in."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


def teams_run_by(request: HttpRequest) -> QuerySet[Team]:
    """The teams whose rows this person works on: all for the operator, else those the person is admin of."""
    who = person(request)
    if who.is_superuser:
        return Team.objects.all()
    return Team.objects.filter(pk__in=Membership.objects.filter(user=who, role=Role.ADMIN).values("team"))


def people_known_to(request: HttpRequest) -> QuerySet[User]:
    """Members of these teams, and the person; everybody for the operator."""
    who = person(request)
    if who.is_superuser:
        return User.objects.all()
    members = Membership.objects.filter(team__in=teams_run_by(request)).values("user")
    return User.objects.filter(Q(pk__in=members) | Q(pk=who.pk))


class ScopedChoices:
    """Choices in forms and inlines: only teams, people and rows of teams this person runs. The form refuses others."""

    def formfield_for_foreignkey(self, db_field: ForeignKey, request: HttpRequest, **kwargs: Any) -> Any:
        if "queryset" not in kwargs:
            chosen = choices(request, db_field.remote_field.model)
            if chosen is not None:
                kwargs["queryset"] = chosen
        return super().formfield_for_foreignkey(db_field, request, **kwargs)  # type: ignore[misc]


def choices(request: HttpRequest, model: type[Model]) -> QuerySet[Any] | None:
    """Rows of `model` this person may choose; None when rows of it belong to no team."""
    if model is Team:
        return teams_run_by(request)
    if model is User:
        return people_known_to(request)
    if issubclass(model, TeamOwned):
        return model.unscoped.filter(team__in=teams_run_by(request))
    return None


class TeamScoped(ScopedChoices, admin.ModelAdmin):
    """Admin of rows that belong to a team. `team_lookup` is the way from a row to its team's id.

    Lists, single rows, searches, autocompletes, actions and deletions all go through `get_queryset`.
    `act` is the permission for actions on rows that nobody edits: the right to change the model.
    """

    team_lookup: ClassVar[str] = "team"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        if person(request).is_superuser:
            return rows
        return rows.filter(**{f"{self.team_lookup}__in": teams_run_by(request).values("pk")})

    def get_list_filter(self, request: HttpRequest) -> Any:
        """Filters by team name only teams that this person's rows belong to."""
        return [
            ("team", admin.RelatedOnlyFieldListFilter) if name == "team" else name
            for name in super().get_list_filter(request)
        ]

    def has_act_permission(self, request: HttpRequest) -> bool:
        return person(request).has_perm(f"{self.opts.app_label}.change_{self.opts.model_name}")


class ReadOnlyAdmin(TeamScoped):
    """Projections of logs and records of the past: to be looked at, searched and filtered, never edited."""

    show_full_result_count = False
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
