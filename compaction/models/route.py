"""What is known of the models that requests are routed to: stated by people or the shipped table, and seen in logs."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from dshweb.access.scoping import TeamOwned


def _efforts(value: Any) -> None:
    if value is not None and not (isinstance(value, list) and all(isinstance(item, str) and item for item in value)):
        raise ValidationError(_('A list of effort names, e.g. ["low", "high"]; empty when nothing is known.'))
    if value is not None and len(set(value)) != len(value):
        raise ValidationError(_("An effort stands in the list twice."))


class ModelRoute(TeamOwned):
    """A model of a provider. What is stated stands in the plain columns, what logs said in `seen_…`; null is unknown.

    `model` "" stands for every other model of the provider (its adapter's own defaults); it is never offered itself.
    `efforts` null: whether it takes any is unknown; []: it takes none. `allowed`: may be chosen to write summaries.
    """

    provider = models.CharField(_("provider"), max_length=120)
    model = models.CharField(
        _("model"), max_length=200, blank=True, help_text=_("empty: any other model of the provider")
    )
    context_window = models.PositiveBigIntegerField(
        _("context window (tokens)"), null=True, blank=True, validators=[MinValueValidator(1)]
    )
    default_max_tokens = models.PositiveBigIntegerField(
        _("default output limit (tokens)"), null=True, blank=True, validators=[MinValueValidator(1)]
    )
    efforts = models.JSONField(_("reasoning efforts"), null=True, blank=True, validators=[_efforts])
    default_effort = models.CharField(_("default effort"), max_length=60, blank=True)
    allowed = models.BooleanField(_("allowed for summaries"), default=False)
    seen_window = models.PositiveBigIntegerField(_("window seen in logs"), null=True, blank=True, editable=False)
    seen_max_tokens = models.PositiveBigIntegerField(
        _("output limit seen in logs"), null=True, blank=True, editable=False
    )
    seen_effort = models.CharField(_("default effort seen in logs"), max_length=60, blank=True, editable=False)
    seen_at = models.DateTimeField(_("last seen in a log"), null=True, blank=True, editable=False)

    class Meta(TeamOwned.Meta):
        verbose_name = _("model route")
        verbose_name_plural = _("model routes")
        constraints = [
            models.UniqueConstraint(fields=["team", "provider", "model"], name="one_route_per_team_provider_and_model")
        ]

    def __str__(self) -> str:
        return f"{self.provider}/{self.model or '*'}"

    def clean(self) -> None:
        if self.default_effort and self.default_effort not in (self.efforts or []):
            raise ValidationError({"default_effort": _("The default is not among the efforts.")})
        if self.allowed and not self.model:
            raise ValidationError({"allowed": _("Only a named model can be allowed.")})
