"""API tokens: shown once, stored as a digest."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from dshweb.access.scoping import TeamOwned


class Scope(models.TextChoices):
    INGEST = "ingest", _("bring logs in")
    READ = "read", _("read sessions and audits")
    REVIEW = "review", _("review signals")
    MEMORY = "memory", _("memory")
    ENGINE = "engine", _("change compaction settings")


class ApiToken(TeamOwned):
    """A program's key to one team, acting for the person who made it and never with more than that person's rights."""

    user = models.ForeignKey("access.User", models.CASCADE, related_name="api_tokens", verbose_name=_("user"))
    name = models.CharField(_("name"), max_length=80)
    prefix = models.CharField(_("begins with"), max_length=16, editable=False)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    scopes = models.JSONField(_("scopes"), default=list)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    last_used_at = models.DateTimeField(_("last used"), null=True, blank=True, editable=False)
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True)

    class Meta(TeamOwned.Meta):
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"
