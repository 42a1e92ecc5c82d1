"""Admin of what a team audits by, and of the audits made. Policies are added, never changed; records never edited."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from audit.models import Audit, PolicyVersion, Signal, VocabularyTerm
from audit.services.again import audit_team_again
from audit.services.policy import EDITABLE, publish
from dshweb.access.models import Team
from dshweb.ui.admin_tools import ReadOnlyAdmin, person


@admin.action(description=_("Re-audit these teams"))
def audit_again(site: Any, request: HttpRequest, queryset: QuerySet[Any]) -> None:
    logs = [audit_team_again(team, person(request)) for team in Team.objects.filter(pk__in=queryset.values("team"))]
    words = ngettext("The audit of %(n)d log was asked for.", "The audits of %(n)d logs were asked for.", sum(logs))
    site.message_user(request, words % {"n": sum(logs)})


def offer(site: Any, request: HttpRequest, version: PolicyVersion) -> None:
    words = _now(
        "Policy %(version)s of %(team)s is in force. Audits made before stay as they are; re-audit to compare."
    )
    site.message_user(request, words % {"version": version, "team": version.team}, messages.WARNING)


@admin.register(VocabularyTerm)
class VocabularyTermAdmin(admin.ModelAdmin):
    """Each change makes the team's next policy version, so that a record always says what it was made under."""

    list_display = ("term", "list", "team", "note")
    list_filter = ("team", "list")
    list_select_related = ("team",)
    search_fields = ("term", "note")
    actions = (audit_again,)

    def save_model(self, request: HttpRequest, obj: VocabularyTerm, form: Any, change: Any) -> None:
        before = VocabularyTerm.unscoped.filter(pk=obj.pk).select_related("team").first()
        super().save_model(request, obj, form, change)
        self._publish(request, {obj.team, before.team if before else obj.team}, f"+ {obj.list}: {obj.term}")
        if obj.term.isascii() and len(obj.term) < 4:
            text = _now("“%(term)s” is short; terms match anywhere, also inside words.")
            self.message_user(request, text % {"term": obj.term}, messages.WARNING)

    def delete_model(self, request: HttpRequest, obj: VocabularyTerm) -> None:
        super().delete_model(request, obj)
        self._publish(request, [obj.team], f"- {obj.list}: {obj.term}")

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[VocabularyTerm]) -> None:
        teams, count = {row.team for row in queryset.select_related("team")}, queryset.count()
        super().delete_queryset(request, queryset)
        self._publish(request, teams, f"- {count}")

    def _publish(self, request: HttpRequest, teams: Iterable[Team], note: str) -> None:
        for team in sorted(teams, key=lambda team: team.pk):
            offer(self, request, publish(team=team, by=person(request), note=note[:300]))


@admin.register(PolicyVersion)
class PolicyVersionAdmin(admin.ModelAdmin):
    """The newest version of a team counts. A version can be added, not changed or taken away."""

    list_display = ("version", "team", "check_compliance", "extended_classes", "note", "created_at", "created_by")
    list_filter = ("team",)
    list_select_related = ("team", "created_by")
    ordering = ("team", "-version")
    fields = ("team", *EDITABLE, "note")
    actions = (audit_again,)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("team", "version", *EDITABLE, "vocabulary", "note", "created_at", "created_by") if obj else self.fields

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Starts from the newest version there is, so that one change is one change."""
        newest = PolicyVersion.unscoped.order_by("-created_at").first()
        team = Team.objects.order_by("id").first()
        values = {name: getattr(newest, name) for name in EDITABLE} if newest else {}
        return {"team": newest.team_id if newest else team and team.pk, **values}

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: PolicyVersion, form: Any, change: Any) -> None:
        values = {name: getattr(obj, name) for name in EDITABLE}
        made = publish(team=obj.team, by=person(request), note=obj.note, **values)
        obj.pk, obj.version = made.pk, made.version
        offer(self, request, made)


@admin.register(Audit)
class AuditAdmin(ReadOnlyAdmin):
    list_display = (
        "id",
        "compaction_name",
        "team",
        "engine",
        "config_fp",
        "verdict",
        "ledger_incomplete",
        "rate",
        "score",
        "created_at",
    )
    list_filter = ("team", "verdict", "ledger_incomplete", "engine", "config_fp")
    search_fields = ("=compaction__compaction_id", "=compaction__session__session_id")
    ordering = ("-id",)
    actions = (audit_again,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Audit]:
        rows = super().get_queryset(request).select_related("team", "compaction")
        rows = rows.defer("compaction__summary", "compaction__shadowed_seqs", "compaction__usage")
        match = request.resolver_match
        return rows.defer("record") if match and match.url_name == "audit_audit_changelist" else rows

    @admin.display(description=_("compaction"))
    def compaction_name(self, row: Audit) -> str:
        return row.compaction.compaction_id


@admin.register(Signal)
class SignalAdmin(ReadOnlyAdmin):
    list_display = ("id", "audit_id", "team", "rank", "kind", "cls", "tier", "text", "seq", "weight")
    list_filter = ("team", "kind", "cls", "tier", "axis")
    list_select_related = ("team",)
    search_fields = ("text", "=audit__compaction__compaction_id")
    ordering = ("-id",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Signal]:
        rows = super().get_queryset(request)
        match = request.resolver_match
        if match and match.url_name == "audit_signal_changelist":
            return rows.defer("data")
        return rows.select_related("audit").defer("audit__record")
