"""A team's own masking patterns, on top of the built-in list."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _

from dshweb.access.scoping import TeamOwned


class MaskPattern(TeamOwned):
    """One pattern (RE2 syntax, linear on any input). A change takes effect on stored text with the next re-scan."""

    name = models.SlugField(_("name"), max_length=40, help_text=_("Shown in place of the secret: [redacted:name]."))
    expression = models.CharField(_("pattern"), max_length=500, help_text=_("RE2 syntax; the whole match is masked."))
    note = models.CharField(_("note"), max_length=300, blank=True)
    enabled = models.BooleanField(_("in use"), default=True)
    changed_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta(TeamOwned.Meta):
        verbose_name = _("masking pattern")
        verbose_name_plural = _("masking patterns")
        constraints = [models.UniqueConstraint(fields=["team", "name"], name="one_pattern_per_team_and_name")]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        from dshweb.text.redact import PatternError, compile_pattern

        try:
            compile_pattern(self.expression)
        except PatternError as error:
            raise ValidationError({"expression": str(error)}) from error
