"""What people made of signals: verdicts with notes, as a history."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from dshweb.access.scoping import TeamOwned

NOTE_CHARS = 2000


class ReviewVerdict(models.TextChoices):
    OPEN = "open", _("open")
    CONFIRMED = "confirmed", _("confirmed")
    DISMISSED = "dismissed", _("dismissed")


class Review(TeamOwned):
    """One verdict on one signal of a compaction. Rows are added, never changed: the newest counts, the others are history.
    Only masking patterns that came later may hide something in a note.

    It belongs to the compaction and the signal's `key`, not to a record, so that it holds for the same signal in the next
    record too. `open` takes an earlier verdict back. `note` is masked. `token` is null for a person in a browser.
    """

    compaction = models.ForeignKey(
        "sessionlog.Compaction", models.CASCADE, related_name="reviews", verbose_name=_("compaction")
    )
    key = models.CharField(_("signal"), max_length=32)
    verdict = models.CharField(_("verdict"), max_length=10, choices=ReviewVerdict)
    note = models.TextField(_("note"), blank=True, max_length=NOTE_CHARS)
    user = models.ForeignKey("access.User", models.SET_NULL, null=True, related_name="+", verbose_name=_("user"))
    token = models.ForeignKey(
        "access.ApiToken", models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("token")
    )
    at = models.DateTimeField(_("time"), auto_now_add=True)

    class Meta(TeamOwned.Meta):
        verbose_name = _("review")
        verbose_name_plural = _("reviews")
        indexes = [models.Index(fields=["compaction", "key", "-id"], name="reviews_of_a_signal")]

    def __str__(self) -> str:
        return f"{self.verdict} {self.key[:8]}"
