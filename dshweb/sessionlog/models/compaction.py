"""Compaction attempts of a log, completed or not."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from dshweb.access.scoping import TeamOwned


class Outcome(models.TextChoices):
    COMPLETED = "completed", _("completed")
    FAILED = "failed", _("failed")
    CANCELLED = "cancelled", _("cancelled")
    UNMATCHED = "unmatched", _("no end in the log")


class Trigger(models.TextChoices):
    MANUAL = "manual", _("manual")
    PRESSURE = "pressure", _("pressure (derived)")
    OVERFLOW = "overflow", _("context overflow (derived)")


class Compaction(TeamOwned):
    """One attempt: from its `compaction/start` to its end, as far as the log tells. `position` is the first row's.

    An attempt that is being made right now and one whose process was killed look the same in a log: `unmatched`.

    `round` counts completed compactions of this log, from 1; null for attempts that did not complete. `summary` is the list of
    masked text blocks; null when there is no summary row (a failed attempt's text is not in the log).
    """

    log = models.ForeignKey("sessionlog.LogFile", models.CASCADE, related_name="compactions", verbose_name=_("log"))
    session = models.ForeignKey(
        "sessionlog.Session", models.CASCADE, related_name="all_compactions", verbose_name=_("session")
    )
    compaction_id = models.CharField(_("compaction id"), max_length=200)
    position = models.BigIntegerField(editable=False)
    outcome = models.CharField(_("outcome"), max_length=10, choices=Outcome)
    error = models.TextField(_("error"), blank=True)
    trigger = models.CharField(_("trigger"), max_length=10, choices=Trigger, blank=True)
    round = models.PositiveIntegerField(_("round"), null=True, blank=True)
    turn = models.IntegerField(_("turn"), null=True, blank=True)
    start_seq = models.BigIntegerField(_("start seq"), null=True, blank=True)
    summary_seq = models.BigIntegerField(_("summary seq"), null=True, blank=True)
    checkpoint_seq = models.BigIntegerField(_("checkpoint seq"), null=True, blank=True)
    end_seq = models.BigIntegerField(_("end seq"), null=True, blank=True)
    at = models.DateTimeField(_("time"), null=True, blank=True)
    took_ms = models.PositiveBigIntegerField(_("took (ms)"), null=True, blank=True)
    shadowed_seqs = models.JSONField(_("shadowed seqs"), default=list)
    shadowed_tokens = models.PositiveBigIntegerField(_("shadowed tokens (estimated)"), null=True, blank=True)
    provider = models.CharField(_("provider"), max_length=120, blank=True)
    model = models.CharField(_("model"), max_length=200, blank=True)
    max_tokens = models.PositiveBigIntegerField(_("token limit of the summary"), null=True, blank=True)
    usage = models.JSONField(_("usage"), null=True, blank=True)
    command_id = models.CharField(_("command id"), max_length=200, blank=True)
    inherited = models.BooleanField(_("inherited from the parent"), default=False)
    summary = models.JSONField(_("summary"), null=True, blank=True)
    # what the audit needs to know of the moment the summary came: spanOk, damagedBefore, stateSeqs, systemSeqs, cwd (masked)
    context = models.JSONField(default=dict, editable=False)
    # of what an audit was made: when it changes, records of before go (services.attempts); empty without a summary
    basis = models.CharField(max_length=80, blank=True, editable=False)

    class Meta(TeamOwned.Meta):
        verbose_name = _("compaction")
        verbose_name_plural = _("compactions")
        constraints = [models.UniqueConstraint(fields=["log", "position"], name="one_compaction_per_log_and_position")]
        indexes = [
            models.Index(fields=["session", "position"], name="compactions_of_a_session"),
            models.Index(fields=["team", "compaction_id"], name="compactions_by_id"),
        ]

    def __str__(self) -> str:
        return self.compaction_id
