"""What is written down about access: reads of unmasked originals, tokens made and revoked."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from dshweb.access.scoping import TeamOwned


class AccessLog(TeamOwned):
    """One row a noteworthy access. Rows are added, never changed."""

    user = models.ForeignKey("access.User", models.SET_NULL, null=True, related_name="+", verbose_name=_("user"))
    token = models.ForeignKey(
        "access.ApiToken", models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("token")
    )
    action = models.CharField(_("action"), max_length=40)
    target = models.CharField(_("target"), max_length=300)
    at = models.DateTimeField(_("time"), auto_now_add=True)

    class Meta(TeamOwned.Meta):
        verbose_name = _("access log row")
        verbose_name_plural = _("access log")
        indexes = [
            models.Index(fields=["team", "-at"], name="access_log_by_team_and_time"),
            models.Index(fields=["team", "-id"], name="access_log_pages"),
        ]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.action} {self.target}"
