"""Admin of teams, people, tokens and login links; the access log is for reading."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.forms import ReadOnlyPasswordHashWidget
from django.contrib.auth.hashers import is_password_usable
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from dshweb.access.admin_tools import (
    ReadOnlyAdmin,
    ScopedChoices,
    TeamScoped,
    people_known_to,
    person,
    teams_run_by,
)
from dshweb.access.models import AccessLog, ApiToken, LoginLink, Membership, Scope, Team, User
from dshweb.access.services import links, tokens
from dshweb.access.services.log import note_access, note_of_account
from dshweb.access.services.members import rights, why_no_link


class LogsRights(admin.ModelAdmin):
    """What is changed here about members stands in the access log of their team, as what the team's page changes does."""

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:  # noqa: FBT001
        super().save_formset(request, form, formset, change)
        if formset.model is Membership:
            for row in formset.new_objects:
                _note_rights(request, row, "member-added")
            for row, _fields in formset.changed_objects:
                _note_rights(request, row, "member-changed")
            for row in formset.deleted_objects:
                _note_removal(request, row)


def _note_removal(request: HttpRequest, row: Membership) -> None:
    """Their tokens for the team end for good, as on the team's page: being added again does not bring them back."""
    tokens.revoke_all(row.team_id, row.user_id, person(request))
    _note_rights(request, row, "member-removed")


def _note_rights(request: HttpRequest, row: Membership, action: str) -> None:
    said = f"{row.user}: {rights(row.role, can_review=row.can_review)}"
    note_access(row.team_id, action, said, user=person(request))


class Members(ScopedChoices, admin.TabularInline):
    model = Membership
    autocomplete_fields = ["user"]
    extra = 0


@admin.register(Team)
class TeamAdmin(LogsRights, TeamScoped):
    team_lookup = "pk"
    list_display = ["name", "slug", "content_visibility", "members", "created_at"]
    search_fields = ["name", "slug"]
    prepopulated_fields = {"slug": ["name"]}
    inlines = [Members]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Team]:
        return super().get_queryset(request).annotate(members_count=Count("memberships"))

    @admin.display(description=_("members"), ordering="members_count")
    def members(self, team: Any) -> int:
        return team.members_count


@admin.register(Membership)
class MembershipAdmin(TeamScoped):
    list_display = ["user", "team", "role", "can_review"]
    list_filter = ["team", "role", "can_review"]
    list_select_related = ["user", "team"]
    search_fields = ["user__username", "team__name"]
    autocomplete_fields = ["user", "team"]

    def save_model(self, request: HttpRequest, obj: Membership, form: Any, change: bool) -> None:  # noqa: FBT001
        super().save_model(request, obj, form, change)
        _note_rights(request, obj, "member-changed" if change else "member-added")

    def delete_model(self, request: HttpRequest, obj: Membership) -> None:
        _note_removal(request, obj)
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Membership]) -> None:
        for row in queryset.select_related("user"):
            _note_removal(request, row)
        super().delete_queryset(request, queryset)


class UserTeams(ScopedChoices, admin.TabularInline):
    model = Membership
    autocomplete_fields = ["team"]
    extra = 0

    def get_queryset(self, request: HttpRequest) -> QuerySet[Membership]:
        return super().get_queryset(request).filter(team__in=teams_run_by(request))


@admin.register(User)
class UserAdmin(LogsRights, DjangoUserAdmin):
    list_display = ["username", "first_name", "last_name", "is_active", "is_staff", "last_login"]
    inlines = [UserTeams]
    actions = ["make_login_link"]
    fieldsets = (
        *(DjangoUserAdmin.fieldsets or ()),
        (_("Interface"), {"fields": ["language", "theme", "time_zone"]}),
        (_("Account"), {"fields": ["home"]}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        return super().get_queryset(request).filter(pk__in=people_known_to(request).values("pk"))

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Rights that reach beyond a team are the operator's to give."""
        given = super().get_readonly_fields(request, obj)
        return given if person(request).is_superuser else [*given, *BEYOND_A_TEAM]

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Whoever changes an account can become it: not that of other staff, nor of people other teams rely on too."""
        return super().has_change_permission(request, obj) and (obj is None or _may_act_for(request, obj))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_delete_permission(request, obj) and person(request).is_superuser

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """Also of a new password: who sets it for another could log in as that person."""
        note_of_account(obj, "account-changed", by=person(request))
        return super().log_change(request, obj, message)

    def get_form(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:  # type: ignore[override]
        """Of a password only whether there is one: neither the digest nor a part of it is anybody's business."""
        form = super().get_form(request, obj, **kwargs)
        if obj is not None and "password" in form.base_fields:
            form.base_fields["password"].widget = PasswordState()
        return form

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:  # noqa: FBT001
        """An account made for one team is that team's (services.members.why_no_link)."""
        super().save_related(request, form, formsets, change)
        user = form.instance
        teams = list(Membership.objects.filter(user=user).values_list("team", flat=True)[:2])
        if not change and not user.is_superuser and len(teams) == 1:
            User.objects.filter(pk=user.pk).update(home=teams[0])

    @admin.action(description=_("Make a one-time login link"), permissions=["change"])
    def make_login_link(self, request: HttpRequest, people: QuerySet[User]) -> HttpResponse:
        """Who makes a link for a person could log in as that person. The links are in this answer and nowhere else."""
        made, refused = [], []
        for one in people:
            reason = why_no_link(one, person(request))
            if reason:
                refused.append((one, reason))
                continue
            note_of_account(one, "login-link-made", by=person(request))
            made.append((one, request.build_absolute_uri(reverse("login-link", args=[links.make(one)]))))
        return _show_once(request, self, {"title": gettext("Login links"), "links": made, "refused": refused})


BEYOND_A_TEAM = ("is_staff", "is_superuser", "groups", "user_permissions", "home")


class PasswordState(ReadOnlyPasswordHashWidget):
    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        known = bool(value) and is_password_usable(value)
        context["summary"] = [{"label": gettext("Set.") if known else gettext("None set.")}]
        return context


def _may_act_for(request: HttpRequest, one: User) -> bool:
    """Whose account may be changed: one's own, and those that a login link could be made for."""
    return one.pk == person(request).pk or not why_no_link(one, person(request), inactive=True)


def _show_once(request: HttpRequest, model_admin: admin.ModelAdmin, context: dict[str, Any]) -> HttpResponse:
    """A secret as the answer itself: messages are kept in a cookie until they are shown."""
    shared = model_admin.admin_site.each_context(request)
    answer = render(request, "admin/access/shown_once.html", shared | {"opts": model_admin.opts} | context)
    add_never_cache_headers(answer)
    return answer


@admin.register(LoginLink)
class LoginLinkAdmin(ReadOnlyAdmin):
    list_display = ["user", "expires_at", "used_at"]
    list_select_related = ["user"]
    list_filter = ["used_at"]
    search_fields = ["user__username"]
    fields = ["user", "expires_at", "used_at"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[LoginLink]:
        """Those of people this person could make links for."""
        rows = admin.ModelAdmin.get_queryset(self, request)
        return rows if person(request).is_superuser else rows.filter(user__in=people_known_to(request))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Deleting a link ends it."""
        return admin.ModelAdmin.has_delete_permission(self, request, obj)


class TokenForm(forms.ModelForm):
    scopes = forms.MultipleChoiceField(label=_("scopes"), choices=Scope.choices, widget=forms.CheckboxSelectMultiple)

    class Meta:
        model = ApiToken
        fields = ["team", "user", "name", "scopes", "expires_at"]

    def clean_expires_at(self) -> datetime | None:
        moment: datetime | None = self.cleaned_data["expires_at"]
        if moment is not None and moment <= timezone.now():
            raise forms.ValidationError(_("This time is past."))
        return moment

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        team, user = values.get("team"), values.get("user")
        if team and user and not Membership.objects.filter(team=team, user=user).exists():
            raise forms.ValidationError(_("This person is not a member of this team."))
        return values


@admin.register(ApiToken)
class ApiTokenAdmin(TeamScoped):
    form = TokenForm
    list_display = ["name", "prefix", "team", "user", "shown_scopes", "expires_at", "last_used_at", "revoked_at"]
    list_filter = ["team", "revoked_at"]
    list_select_related = ["team", "user"]
    search_fields = ["name", "prefix", "user__username"]
    autocomplete_fields = ["team", "user"]
    actions = ["revoke_tokens"]

    @admin.display(description=_("scopes"))
    def shown_scopes(self, token: ApiToken) -> str:
        return ", ".join(token.scopes)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """A token is made and revoked, never changed; the list stays visible."""
        return obj is None and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Revoking ends a token and keeps what the access log says about it."""
        return False

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fields = ["team", "user", "name", "scopes", "expires_at"]
        return fields if obj is None else [*fields, "prefix", "created_at", "last_used_at", "revoked_at"]

    def save_model(self, request: HttpRequest, obj: ApiToken, form: Any, change: bool) -> None:  # noqa: FBT001
        made, secret = tokens.make(obj.team, obj.user, obj.name, obj.scopes, obj.expires_at, by=person(request))
        request.new_secret = secret  # type: ignore[attr-defined]
        obj.pk, obj.prefix = made.pk, made.prefix

    def response_add(self, request: HttpRequest, obj: ApiToken, post_url_continue: str | None = None) -> HttpResponse:
        secret = request.new_secret  # type: ignore[attr-defined]
        return _show_once(request, self, {"title": gettext("New token"), "token": obj, "secret": secret})

    @admin.action(description=_("Revoke"), permissions=["change"])
    def revoke_tokens(self, request: HttpRequest, rows: QuerySet[ApiToken]) -> None:
        count = sum(tokens.revoke(token, request.user) for token in rows)  # type: ignore[arg-type]
        messages.success(request, gettext("%d tokens revoked.") % count)


@admin.register(AccessLog)
class AccessLogAdmin(ReadOnlyAdmin):
    list_display = ["at", "team", "user", "token", "action", "target"]
    list_filter = ["team", "action"]
    list_select_related = ["team", "user", "token"]
    search_fields = ["target", "user__username"]
    date_hierarchy = "at"
