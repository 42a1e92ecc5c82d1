"""What is kept of a log so that a request about its compactions decodes nothing: made at the import, caught up with it."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from dshweb.access.scoping import TeamOwned


class LogFacts(TeamOwned):
    """`facts` is `core.session_facts.SessionFacts`, `cuts` its table of cuts (null: a node has no price), `standing` what
    `core.standing` tells, masked. `revision` is the log's when they were made: another one means the log has grown since.

    `state` is what both folds go on from, behind the first `offset` bytes (`rows` rows) of the log: ids and numbers, and
    texts masked under `masking`.
    """

    log = models.OneToOneField("sessionlog.LogFile", models.CASCADE, related_name="facts", verbose_name=_("log"))
    revision = models.PositiveBigIntegerField(editable=False)
    offset = models.BigIntegerField(editable=False)
    rows = models.BigIntegerField(editable=False)
    masking = models.CharField(max_length=32, blank=True, editable=False)
    facts = models.JSONField(_("facts"))
    standing = models.JSONField(_("state of the session"))
    cuts = models.BinaryField(null=True, editable=False)
    state = models.TextField(editable=False)

    class Meta(TeamOwned.Meta):
        verbose_name = _("facts of a log")
        verbose_name_plural = _("facts of logs")

    def __str__(self) -> str:
        return str(self.log_id)
