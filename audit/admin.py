"""Admin of what a team audits by, and of the audits made. Policies are added, never changed; records never edited."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from audit.models import Audit, PolicyVersion, Review, Signal, VocabularyTerm
from audit.services.again import audit_team_again
from audit.services.policy import EDITABLE, changed, publish
from dshweb.access.admin_tools import ReadOnlyAdmin, TeamScoped, person, teams_run_by
from dshweb.access.models import Team


@admin.action(description=_("Re-audit these teams"), permissions=["act"])
def audit_again(site: Any, request: HttpRequest, queryset: QuerySet[Any]) -> None:
    teams = teams_run_by(request).filter(pk__in=queryset.order_by().values("team"))
    logs = [audit_team_again(team, person(request)) for team in teams]
    words = ngettext("The audit of %(n)d log was asked for.", "The audits of %(n)d logs were asked for.", sum(logs))
    site.message_user(request, words % {"n": sum(logs)})


def offer(site: Any, request: HttpRequest, version: PolicyVersion) -> None:
    words = gettext(
        "Policy %(version)s of %(team)s is in force. Audits made before stay as they are; re-audit to compare."
    )
    site.message_user(request, words % {"version": version, "team": version.team}, messages.WARNING)


@admin.register(VocabularyTerm)
class VocabularyTermAdmin(TeamScoped):
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
            text = gettext("“%(term)s” is short; terms match anywhere, also inside words.")
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


class PolicyForm(forms.ModelForm):
    """`base` is the version whose values the form was filled with (0: the defaults), to publish only what was touched."""

    base = forms.IntegerField(required=False, widget=forms.HiddenInput, label="")

    class Meta:
        model = PolicyVersion
        fields = ("team", *EDITABLE, "note")


@admin.register(PolicyVersion)
class PolicyVersionAdmin(TeamScoped):
    """The newest version of a team counts. A version can be added, not changed or taken away."""

    form = PolicyForm
    list_display = ("version", "team", "check_compliance", "extended_classes", "note", "created_at", "created_by")
    list_filter = ("team",)
    list_select_related = ("team", "created_by")
    ordering = ("team", "-version")
    fields = ("team", *EDITABLE, "note", "base")
    actions = (audit_again,)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("team", "version", *EDITABLE, "vocabulary", "note", "created_at", "created_by") if obj else self.fields

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:  # noqa: FBT001, FBT002
        return super().get_form(request, obj, change, **({"form": forms.ModelForm} if obj else {}) | kwargs)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Starts from the newest version of the team in the address (`?team=`), else of this person's first team."""
        wanted, teams = request.GET.get("team", ""), teams_run_by(request).order_by("id")
        team = (
            teams.filter(pk=int(wanted)).first() if wanted.isdecimal() and len(wanted) < 19 else None
        ) or teams.first()
        newest = PolicyVersion.objects.for_team(team).order_by("-version").first() if team else None
        values = {name: getattr(newest, name) for name in EDITABLE} if newest else {}
        return {"team": team and team.pk, "base": newest.pk if newest else 0, **values}

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: PolicyVersion, form: Any, change: Any) -> None:
        """Publishes what differs from the values the form was filled with, on top of the chosen team's newest version."""
        values, base = {name: getattr(obj, name) for name in EDITABLE}, form.cleaned_data.get("base")
        if base is not None:
            values = changed(values, self.get_queryset(request).filter(pk=base).first())
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
    list_display = ("id", "audit_id", "team", "rank", "kind", "cls", "tier", "text", "seq", "weight", "review")
    list_filter = ("team", "review", "kind", "cls", "tier", "axis")
    list_select_related = ("team",)
    search_fields = ("text", "=audit__compaction__compaction_id")
    ordering = ("-id",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Signal]:
        rows = super().get_queryset(request)
        match = request.resolver_match
        if match and match.url_name == "audit_signal_changelist":
            return rows.defer("data")
        return rows.select_related("audit").defer("audit__record")


@admin.register(Review)
class ReviewAdmin(ReadOnlyAdmin):
    """The history of verdicts, to be looked at. A verdict is given on the pages, where the signal stands."""

    list_display = ("id", "at", "team", "verdict", "user", "token", "compaction_name", "note")
    list_filter = ("team", "verdict", "at")
    search_fields = ("note", "=user__username", "=compaction__compaction_id")
    ordering = ("-id",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Review]:
        rows = super().get_queryset(request).select_related("team", "user", "token", "compaction")
        return rows.defer("compaction__summary", "compaction__shadowed_seqs", "compaction__usage")

    @admin.display(description=_("compaction"))
    def compaction_name(self, row: Review) -> str:
        return row.compaction.compaction_id
