"""Admin of profiles and model routes; settings, their history and what engines hold are only looked at here."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from compaction.models import EngineSnapshot, ModelRoute, Profile, SettingsRevision
from dshweb.access.admin_tools import ReadOnlyAdmin, TeamScoped, person


@admin.register(Profile)
class ProfileAdmin(TeamScoped):
    """Settings are changed by their page and call, which compare revisions. Which file of this machine a profile names is the
    operator's to say: it is read and written with this server's rights."""

    list_display = ("name", "machine", "team", "is_default", "revision", "changed_at", "changed_by")
    list_filter = ("team", "is_default")
    list_select_related = ("team", "changed_by")
    search_fields = ("name", "machine")
    fields = ("team", "name", "machine", "path", "is_default", "revision", "document", "changed_at", "changed_by")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fixed = ("revision", "document", "changed_at", "changed_by")
        moved = ("team",) if obj else ()  # its history belongs to the team it was made in
        return (*fixed, *moved) if person(request).is_superuser else (*fixed, *moved, "path")

    def save_model(self, request: HttpRequest, obj: Profile, form: Any, change: bool) -> None:  # noqa: FBT001 - Django's
        super().save_model(request, obj, form, change)
        if "path" in form.changed_data:  # what we last saw was another file
            Profile.unscoped.filter(pk=obj.pk).update(file_digest="")


@admin.register(ModelRoute)
class ModelRouteAdmin(TeamScoped):
    """The model catalogue. What logs showed stands beside what is stated and never replaces it."""

    list_display = (
        "provider", "model_name", "team", "context_window", "default_max_tokens", "default_effort", "allowed",
        "seen_window", "seen_max_tokens", "seen_at",
    )  # fmt: skip
    list_display_links = ("provider", "model_name")
    list_filter = ("team", "allowed", "provider")
    list_select_related = ("team",)
    search_fields = ("provider", "model")
    ordering = ("team", "provider", "model")
    readonly_fields = ("seen_window", "seen_max_tokens", "seen_effort", "seen_at")
    actions = ("allow", "disallow")

    def get_form(self, request: HttpRequest, obj: Any = None, change: Any = None, **kwargs: Any) -> Any:
        words = {"efforts": _('Names as a list, e.g. ["low", "high"]. Empty: not known; []: the model takes none.')}
        return super().get_form(request, obj, bool(change), **{"help_texts": words, **kwargs})

    @admin.display(description=_("model"), ordering="model")
    def model_name(self, obj: ModelRoute) -> str:
        return obj.model or str(_("any other model"))

    @admin.action(description=_("Allow for summaries"), permissions=["change"])
    def allow(self, request: HttpRequest, queryset: Any) -> None:
        queryset.exclude(model="").update(allowed=True)

    @admin.action(description=_("Do not allow for summaries"), permissions=["change"])
    def disallow(self, request: HttpRequest, queryset: Any) -> None:
        queryset.update(allowed=False)


@admin.register(SettingsRevision)
class SettingsRevisionAdmin(ReadOnlyAdmin):
    list_display = ("profile", "revision", "team", "origin", "author", "at")
    list_filter = ("team", "origin")
    list_select_related = ("profile", "team", "author")
    search_fields = ("profile__name",)
    ordering = ("-id",)


@admin.register(EngineSnapshot)
class EngineSnapshotAdmin(ReadOnlyAdmin):
    list_display = ("profile", "revision", "team", "taken_at")
    list_filter = ("team",)
    list_select_related = ("profile", "team")
    ordering = ("-taken_at",)
