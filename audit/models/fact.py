"""Facts of an audit with their places on both sides, stored so that a page never decodes a log to mark them."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from audit.models.record import Audit
from dshweb.access.scoping import TeamOwned


class Fact(TeamOwned):
    """One judged fact (`audit.core.marks.Marked`), in reading order. Derived from the same run of the rules as the record, and
    gone with it; also gone when a later pattern list masks the record once more, until the log is audited again.

    `key` is the same for the same fact in every audit. `pair` is the key of the fact that stands for it on the other side
    under another name or value. `leaves` are `[seq, start, end]` in the masked text of the message, `summary`
    `[block, start, end]` in the masked block, code points, the first few places only.
    """

    audit = models.ForeignKey(Audit, models.CASCADE, related_name="facts", verbose_name=_("audit"))
    position = models.PositiveIntegerField(_("position"))
    key = models.CharField(_("key"), max_length=12)
    cls = models.CharField(_("class"), max_length=20)
    canon = models.TextField(_("normal form"), blank=True)
    text = models.TextField(_("text"))
    fate = models.CharField(_("in the summary"), max_length=12, blank=True)
    claim = models.CharField(_("in the originals"), max_length=12, blank=True)
    tier = models.CharField(_("tier"), max_length=1, blank=True)
    sources = models.JSONField(_("sources"), default=list)
    pair = models.CharField(max_length=12, blank=True, editable=False)
    leaves = models.JSONField(_("places in the originals"), default=list)
    summary = models.JSONField(_("places in the summary"), default=list)

    class Meta(TeamOwned.Meta):
        verbose_name = _("fact")
        verbose_name_plural = _("facts")
        constraints = [models.UniqueConstraint(fields=["audit", "position"], name="one_fact_per_audit_and_position")]
        indexes = [models.Index(fields=["audit", "key"], name="facts_by_key")]

    def __str__(self) -> str:
        return f"{self.cls} {self.text[:60]}"


class MarkedText(TeamOwned):
    """The marks of one text: `[start, end, position of the fact]`. `place` is the seq of a leaf, or the block of the summary."""

    audit = models.ForeignKey(Audit, models.CASCADE, related_name="marked_texts", verbose_name=_("audit"))
    side = models.CharField(_("side"), max_length=8)
    place = models.BigIntegerField(_("place"))
    marks = models.JSONField(_("marks"))

    class Meta(TeamOwned.Meta):
        verbose_name = _("marked text")
        verbose_name_plural = _("marked texts")
        constraints = [models.UniqueConstraint(fields=["audit", "side", "place"], name="one_row_of_marks_per_text")]

    def __str__(self) -> str:
        return f"{self.side} {self.place}"
