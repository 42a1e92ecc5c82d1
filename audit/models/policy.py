"""What a team audits by. Versions are added, never changed, so that every old record still says what it was made under."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from dshweb.access.scoping import TeamOwned


class PolicyVersion(TeamOwned):
    """Thresholds and switches (AUDIT-REFINEMENTS §2.1) with the vocabulary in force. The newest version of a team counts."""

    version = models.PositiveIntegerField(_("version"))
    check_compliance = models.BooleanField(_("check the vocabulary"), default=True)
    extended_classes = models.BooleanField(_("extended classes"), default=True)
    critical_number_count = models.PositiveIntegerField(
        _("a number counts from so many events"), default=2, validators=[MinValueValidator(1)]
    )
    max_facts_per_category = models.PositiveIntegerField(
        _("rows per class and side"), default=200, validators=[MinValueValidator(1)]
    )
    family_min = models.PositiveIntegerField(
        _("look-alike facts that become one row"), default=4, validators=[MinValueValidator(2)]
    )
    tool_only_max = models.PositiveIntegerField(_("rows of facts only tools stated"), default=20)
    vocabulary = models.JSONField(_("vocabulary"), default=dict, editable=False)
    note = models.CharField(_("note"), max_length=300, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    created_by = models.ForeignKey(
        "access.User", models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("created by")
    )

    class Meta(TeamOwned.Meta):
        verbose_name = _("audit policy")
        verbose_name_plural = _("audit policies")
        constraints = [models.UniqueConstraint(fields=["team", "version"], name="one_policy_per_team_and_version")]

    def __str__(self) -> str:
        return f"v{self.version}"


class TermList(models.TextChoices):
    KEEP = "keep", _("keep: must survive")
    DROP = "drop", _("drop: must not come back")
    SCOPE = "scope", _("scope: limits that must survive")


class VocabularyTerm(TeamOwned):
    """A literal term as admins edit it. Saving a change makes the next PolicyVersion; see audit.services.policy."""

    list = models.CharField(_("list"), max_length=5, choices=TermList)
    term = models.CharField(_("term"), max_length=200)
    note = models.CharField(_("note"), max_length=300, blank=True)

    class Meta(TeamOwned.Meta):
        verbose_name = _("vocabulary term")
        verbose_name_plural = _("vocabulary")
        constraints = [models.UniqueConstraint(fields=["team", "list", "term"], name="one_term_per_team_and_list")]

    def __str__(self) -> str:
        return self.term

    def clean(self) -> None:
        self.term = self.term.strip()
        if len(self.term) < 2:
            raise ValidationError({"term": _("A term needs at least two characters; shorter ones match everywhere.")})
