"""Admin of sources and masking patterns; everything read from logs can be looked at here, and nothing of it edited."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.db.models.functions import Substr
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext_lazy as _

from dshweb.access.admin_tools import ReadOnlyAdmin, TeamScoped, person, teams_run_by
from dshweb.access.models import Team
from dshweb.sessionlog.models import Compaction, Frame, LogFile, MaskPattern, Message, Session, Source, SourceFile
from dshweb.sessionlog.services.masking import masker_for
from dshweb.sessionlog.services.requests import request_ingest, request_rescan
from dshweb.text.lines import cut, visible

HEAVY = ("log__state", "log__header", "log__damage", "log__accounting")


@admin.register(Source)
class SourceAdmin(TeamScoped):
    """A source names any folder the server can read, so that adding one, or asking for a scan, is a right of its own."""

    list_display = ("path", "team", "watch", "owner", "last_scan_at", "last_error")
    list_filter = ("team", "watch")
    list_select_related = ("team", "owner")
    search_fields = ("path",)
    readonly_fields = ("last_scan_at", "last_error")
    actions = ("scan",)

    @admin.action(description=_("Scan these folders now"), permissions=["change"])
    def scan(self, request: HttpRequest, queryset: QuerySet[Source]) -> None:
        for source in queryset:
            request_ingest(source.team_id, Path(source.path), owner=source.owner_id, by=person(request))
        self.message_user(request, _("The scans were asked for; see the tasks."))


@admin.register(SourceFile)
class SourceFileAdmin(ReadOnlyAdmin):
    list_display = ("location", "team", "status", "size", "read_at", "error")
    list_filter = ("team", "status")
    search_fields = ("location", "error")
    fields = ("team", "location", "log", "size", "status", "error", "report", "read_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[SourceFile]:
        return super().get_queryset(request).select_related("team", "log").defer(*HEAVY)


@admin.register(Session)
class SessionAdmin(ReadOnlyAdmin):
    list_display = ("session_id", "team", "shown_title", "model", "last_at", "turns", "compactions", "status")
    list_filter = ("team", "status", "origin")
    list_select_related = ("team",)
    search_fields = ("session_id", "title", "cwd")
    ordering = ("-id",)

    @admin.display(description=_("title"))
    def shown_title(self, row: Session) -> str:
        return _short(row.title)


@admin.register(LogFile)
class LogFileAdmin(ReadOnlyAdmin):
    list_display = ("file_name", "session_name", "team", "format", "status", "size", "complete", "read_at")
    list_filter = ("team", "status", "format", "complete")
    search_fields = ("file_name", "session__session_id")
    ordering = ("-id",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[LogFile]:
        return super().get_queryset(request).select_related("team", "session").defer("state", "accounting", "damage")

    @admin.display(description=_("session id"))
    def session_name(self, row: LogFile) -> str:
        return row.session.session_id


@admin.register(Message)
class MessageAdmin(ReadOnlyAdmin):
    list_display = ("seq", "log_id", "type", "author", "human", "at", "chars", "redactions", "start")
    list_filter = ("team", "type", "human", "placeholder", "inherited")
    search_fields = ("=log__session__session_id", "=call_id", "=digest")
    ordering = ("-id",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Message]:
        rows = super().get_queryset(request).select_related("log").defer(*HEAVY)
        match = request.resolver_match
        if match and match.url_name == "sessionlog_message_changelist":
            rows = rows.defer("text").annotate(beginning=Substr("text", 1, 200))
        return rows

    @admin.display(description=_("text"))
    def start(self, row: Any) -> str:
        return _short(row.beginning)


@admin.register(Compaction)
class CompactionAdmin(ReadOnlyAdmin):
    list_display = ("compaction_id", "session_name", "team", "outcome", "trigger", "round", "at", "took_ms", "model")
    list_filter = ("team", "outcome", "trigger", "inherited")
    search_fields = ("compaction_id", "session__session_id", "error")
    ordering = ("-id",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Compaction]:
        return super().get_queryset(request).select_related("team", "session", "log").defer(*HEAVY)

    @admin.display(description=_("session id"))
    def session_name(self, row: Compaction) -> str:
        return row.session.session_id


@admin.register(Frame)
class FrameAdmin(ReadOnlyAdmin):
    list_display = ("offset", "log_id", "team", "length", "kind", "rows", "first_seq", "last_seq")
    list_filter = ("team", "kind")
    search_fields = ("=log__session__session_id",)
    ordering = ("-id",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Frame]:
        return super().get_queryset(request).select_related("team", "log").defer(*HEAVY)


class TryForm(forms.Form):
    """Text to try the list on. Nothing of it is kept."""

    team = forms.ModelChoiceField(Team.objects.none(), label=_("Team"))
    sample = forms.CharField(
        label=_("Text"), max_length=200_000, widget=forms.Textarea(attrs={"rows": 12}), strip=False
    )

    def __init__(self, data: Any, *, teams: QuerySet[Team]) -> None:
        super().__init__(data, initial={"team": teams.order_by("id").first()})
        self.fields["team"].queryset = teams  # type: ignore[attr-defined]


@admin.register(MaskPattern)
class MaskPatternAdmin(TeamScoped):
    list_display = ("name", "team", "expression", "enabled", "note", "changed_at")
    list_filter = ("team", "enabled")
    list_select_related = ("team",)
    search_fields = ("name", "expression", "note")
    actions = ("scan_again",)
    change_list_template = "admin/sessionlog/maskpattern/change_list.html"

    def get_urls(self) -> list[URLPattern]:
        address = path("try/", self.admin_site.admin_view(self.try_list), name="sessionlog_maskpattern_try")
        return [address, *super().get_urls()]

    def try_list(self, request: HttpRequest) -> HttpResponse:
        """The built-in list and a team's patterns on a text of one's own."""
        self._may_look(request)
        form = TryForm(request.POST or None, teams=teams_run_by(request))
        masked = None
        if request.method == "POST" and form.is_valid():
            masked = masker_for(form.cleaned_data["team"].pk).mask(form.cleaned_data["sample"])
        context = {
            **self.admin_site.each_context(request),
            "title": _("Try the masking patterns"),
            "opts": self.opts,
            "form": form,
            "masked": masked,
        }
        return TemplateResponse(request, "admin/sessionlog/maskpattern/try.html", context)

    def _may_look(self, request: HttpRequest) -> None:
        from django.core.exceptions import PermissionDenied

        if not self.has_view_or_change_permission(request):
            raise PermissionDenied

    @admin.action(description=_("Re-scan: mask the stored text of these teams anew"), permissions=["change"])
    def scan_again(self, request: HttpRequest, queryset: QuerySet[MaskPattern]) -> None:
        for team in teams_run_by(request).filter(pk__in=queryset.order_by().values("team")):
            request_rescan(team, by=person(request))
        self.message_user(request, _("The re-scan was asked for; see the tasks."))

    def save_model(self, request: HttpRequest, obj: MaskPattern, form: Any, change: Any) -> None:
        super().save_model(request, obj, form, change)
        self.message_user(
            request, _("New logs are masked with it; text stored before is not, until a re-scan."), messages.WARNING
        )


def _short(text: str) -> str:
    shown, hidden = cut(visible(text or ""), 120)
    return f"{shown}…" if hidden else shown
