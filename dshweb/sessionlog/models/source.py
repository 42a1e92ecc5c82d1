"""Where logs come from: registered folders, and every file seen, also those that could not be read."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from dshweb.access.scoping import TeamOwned

DELETED = "deleted"


class Source(TeamOwned):
    """A folder (or DSH home) a team has registered. Links out of it are never followed."""

    path = models.CharField(_("folder"), max_length=1000)
    watch = models.BooleanField(_("watch"), default=False)
    owner = models.ForeignKey(
        "access.User", models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("owner")
    )
    last_scan_at = models.DateTimeField(_("last scan"), null=True, blank=True)
    last_error = models.TextField(_("last error"), blank=True)

    class Meta(TeamOwned.Meta):
        verbose_name = _("source")
        verbose_name_plural = _("sources")
        constraints = [models.UniqueConstraint(fields=["team", "path"], name="one_source_per_team_and_path")]

    def __str__(self) -> str:
        return self.path


class SourceFile(TeamOwned):
    """One place a log was seen at: an absolute path, or what a person sent: `upload:` or `push:` and
    `<user id>-<user>/<session>/<name>` (services.sent).

    The stat values are those of the last complete read; equal ones mean "nothing new" without opening the file.
    Status DELETED: somebody deleted the log that was read here; it is left alone until it is asked for (services.delete),
    and comes back as a session of its `owner`, who had it then.
    """

    location = models.CharField(_("location"), max_length=1000)
    log = models.ForeignKey(
        "sessionlog.LogFile", models.SET_NULL, null=True, blank=True, related_name="places", verbose_name=_("log")
    )
    size = models.BigIntegerField(_("size"), null=True, blank=True)
    mtime_ns = models.BigIntegerField(null=True, blank=True, editable=False)
    inode = models.CharField(max_length=64, blank=True, editable=False)
    status = models.CharField(_("status"), max_length=12, blank=True)
    error = models.TextField(_("error"), blank=True)
    report = models.JSONField(_("last report"), null=True, blank=True, editable=False)
    read_at = models.DateTimeField(_("read"), null=True, blank=True)
    owner = models.ForeignKey("access.User", models.SET_NULL, null=True, editable=False, related_name="+")

    class Meta(TeamOwned.Meta):
        verbose_name = _("file")
        verbose_name_plural = _("files")
        constraints = [models.UniqueConstraint(fields=["team", "location"], name="one_file_per_team_and_location")]

    def __str__(self) -> str:
        return self.location
