"""Audit records (`audit.signals/1`) and their signals as rows, for lists and filters."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from audit.models.review import ReviewVerdict
from dshweb.access.scoping import TeamOwned


class Verdict(models.TextChoices):
    AUDITED = "audited", _("audited")
    CANNOT = "cannot_be_audited", _("cannot be audited")


class Audit(TeamOwned):
    """One record of one compaction under one configuration. Records are added, never overwritten; one of a summary that was
    read before its checkpoint, or in a tail that was written anew since, goes for the one of what the log then says.

    The numbers count facts of the five classes and the lines about the user, as the record's axes do: `unverified` is
    `asserted` without `verified`, `lost` is `key_facts` without `kept`; None when the axis could not be made. What the
    record lists (grouped, capped, extended classes too) are the signals. `partial`: something could not be judged.

    `masking` is the version of the pattern list the text was masked by; `masked` that of a later list it was masked by
    once more, in place ("" never; docs/decisions/0002). `marked`: its facts are stored with their places.
    """

    compaction = models.ForeignKey(
        "sessionlog.Compaction", models.CASCADE, related_name="audits", verbose_name=_("compaction")
    )
    engine = models.CharField(_("engine"), max_length=20)
    config_fp = models.CharField(_("configuration"), max_length=12)
    policy = models.ForeignKey(
        "audit.PolicyVersion", models.SET_NULL, null=True, related_name="+", verbose_name=_("policy")
    )
    verdict = models.CharField(_("verdict"), max_length=20, choices=Verdict)
    ledger_incomplete = models.BooleanField(_("ledger incomplete"), default=False)
    asserted = models.PositiveIntegerField(_("facts asserted"), null=True)
    verified = models.PositiveIntegerField(_("with a source"), null=True)
    unverified = models.PositiveIntegerField(_("without a source"), null=True)
    key_facts = models.PositiveIntegerField(_("key facts"), null=True)
    kept = models.PositiveIntegerField(_("in the summary"), null=True)
    lost = models.PositiveIntegerField(_("not in the summary"), null=True)
    rate = models.FloatField(_("fidelity"), null=True)
    score = models.FloatField(_("coverage"), null=True)
    terms_open = models.PositiveIntegerField(_("open terms"), null=True)
    partial = models.BooleanField(_("not fully audited"), default=False)
    record = models.JSONField(_("record"))
    masking = models.CharField(_("masked by list"), max_length=12, blank=True, editable=False)
    masked = models.CharField(_("masked again by list"), max_length=12, blank=True, editable=False)
    marked = models.BooleanField(_("facts stored"), default=False, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta(TeamOwned.Meta):
        verbose_name = _("audit")
        verbose_name_plural = _("audits")
        constraints = [
            models.UniqueConstraint(fields=["compaction", "engine", "config_fp"], name="one_audit_per_configuration")
        ]
        # which records count is read off this alone, without their large rows
        indexes = [models.Index(fields=["team", "compaction", "engine", "config_fp"], name="audits_that_count")]

    def __str__(self) -> str:
        return f"{self.compaction_id} {self.engine} {self.config_fp}"


class Signal(TeamOwned):
    """One candidate for review, in the record's order (`rank` from 0).

    `key` is its identity across the records of its compaction (audit.core.identity), by which reviews hold to it;
    `review` repeats the verdict of the newest one, and `importance` orders signals of many compactions.
    """

    audit = models.ForeignKey(Audit, models.CASCADE, related_name="signals", verbose_name=_("audit"))
    rank = models.PositiveIntegerField(_("rank"))
    axis = models.CharField(_("axis"), max_length=10)
    cls = models.CharField(_("class"), max_length=20)
    kind = models.CharField(_("kind"), max_length=12)
    tier = models.CharField(_("tier"), max_length=1, blank=True)
    text = models.TextField(_("text"))
    canon = models.TextField(_("normal form"), blank=True)
    side = models.CharField(_("side"), max_length=8, blank=True)
    seq = models.BigIntegerField(_("seq"), null=True)
    weight = models.FloatField(_("weight"), null=True)
    data = models.JSONField(_("details"))
    key = models.CharField(max_length=32, blank=True, editable=False)
    review = models.CharField(
        _("verdict"), max_length=10, choices=ReviewVerdict, default=ReviewVerdict.OPEN, editable=False
    )
    importance = models.PositiveIntegerField(default=0, editable=False)

    class Meta(TeamOwned.Meta):
        verbose_name = _("signal")
        verbose_name_plural = _("signals")
        indexes = [
            # order first, filters behind: a page is read off the index whatever it is filtered by
            models.Index(fields=["team", "-importance", "-id", "review", "kind", "cls"], name="signals_in_order"),
            models.Index(fields=["team", "-id", "review", "kind", "cls"], name="signals_newest_first"),
            models.Index(fields=["team", "review", "kind", "cls", "audit"], name="signals_counted"),
        ]
        constraints = [models.UniqueConstraint(fields=["audit", "rank"], name="one_signal_per_audit_and_rank")]

    def __str__(self) -> str:
        return f"{self.kind} {self.text[:60]}"
