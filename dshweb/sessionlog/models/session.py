"""A session as people speak of it: one id, one or more logs."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _

from dshweb.access.scoping import TeamOwned


class NewestFirst(models.Index):
    """An index whose falling columns have unknown last, as lists are sorted. SQLite sorts so anyway and takes no word for it."""

    def create_sql(self, model: Any, schema_editor: Any, using: str = "", **kwargs: Any) -> Any:
        index = self.clone()
        if schema_editor.connection.vendor == "postgresql":
            index.fields_orders = [
                (name, "DESC NULLS LAST" if order == "DESC" and model._meta.get_field(name).null else order)
                for name, order in self.fields_orders
            ]
        return models.Index.create_sql(index, model, schema_editor, using, **kwargs)


class AuditResult(models.TextChoices):
    """What the worst audit of a session's compactions found; "" for a session of which none has been audited."""

    ALTERED = "altered", _("altered or old values")
    CANDIDATES = "candidates", _("candidates")
    CANNOT = "cannot", _("cannot be audited")
    PARTIAL = "partial", _("not fully audited")
    CLEAN = "clean", _("no candidates")


class Session(TeamOwned):
    """`current` is the log that is newest by content; the numbers here are that log's. Unknown is null.

    A fork's numbers are its own; `inherited` counts the parent's rows it begins with: `{"events", "turns", "compactions"}`,
    null for a session that begins with none.

    `audit_result` and `attention` repeat what the audits of the current log say, so that lists can be filtered and sorted by
    it; audit.services.attention keeps them. `attention` grows with what there is to look at; null: nothing is audited.
    """

    session_id = models.CharField(_("session id"), max_length=200)
    owner = models.ForeignKey(
        "access.User", models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("owner")
    )
    current = models.ForeignKey(
        "sessionlog.LogFile", models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("current log")
    )
    title = models.CharField(_("title"), max_length=400, blank=True)
    cwd = models.CharField(_("working directory"), max_length=1000, blank=True)
    preset = models.CharField(_("preset"), max_length=120, blank=True)
    provider = models.CharField(_("provider"), max_length=120, blank=True)
    model = models.CharField(_("model"), max_length=200, blank=True)
    parent_session = models.CharField(_("parent session"), max_length=200, blank=True)
    origin = models.CharField(_("origin"), max_length=60, blank=True)
    created_at = models.DateTimeField(_("started"), null=True, blank=True)
    last_at = models.DateTimeField(_("last event"), null=True, blank=True)
    turns = models.PositiveIntegerField(_("turns"), null=True, blank=True)
    events = models.PositiveBigIntegerField(_("events"), null=True, blank=True)
    tokens = models.PositiveBigIntegerField(_("tokens"), null=True, blank=True)
    compactions = models.PositiveIntegerField(_("completed compactions"), default=0)
    failed_compactions = models.PositiveIntegerField(_("attempts that did not complete"), default=0)
    inherited = models.JSONField(_("inherited from the parent"), null=True, blank=True)
    status = models.CharField(_("log health"), max_length=12, blank=True)
    # codes of core.generations: newer_is_older, version_mismatch:<file name>
    warnings = models.JSONField(_("warnings about its logs"), default=list, blank=True)
    audit_result = models.CharField(_("audit result"), max_length=10, choices=AuditResult, blank=True, editable=False)
    attention = models.PositiveBigIntegerField(_("to look at"), null=True, blank=True, editable=False)
    seen_at = models.DateTimeField(_("first seen"), auto_now_add=True)

    class Meta(TeamOwned.Meta):
        verbose_name = _("session")
        verbose_name_plural = _("sessions")
        constraints = [models.UniqueConstraint(fields=["team", "session_id"], name="one_session_per_team_and_id")]
        indexes = [NewestFirst(fields=["team", "-last_at", "-id"], name="sessions_by_last_event")]

    def __str__(self) -> str:
        return self.title or self.session_id
