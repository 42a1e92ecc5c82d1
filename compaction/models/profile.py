"""A DSH profile of a team, the compaction settings saved for it, their history, and what its engine took of them."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from dshweb.access.scoping import TeamOwned

EDITED = frozenset(("team", "name", "machine", "path", "is_default"))


class Profile(TeamOwned):
    """`document` holds the settings as saved, `revision` counts its changes (0: never saved). Both are changed only by
    `compaction.services.settings`, which compares and sets the revision; saving a row that was read before leaves them alone.

    `path` names a `cordis.patch.yml` on this server that the settings may be written to; `file_digest` is the sha256 of its
    bytes when we last read or wrote it ("absent": there was no file; "": never looked).
    """

    name = models.CharField(_("name"), max_length=120)
    machine = models.CharField(_("machine"), max_length=200, blank=True)
    path = models.CharField(
        _("its cordis.patch.yml on this server"),
        max_length=1000,
        blank=True,
        validators=[
            RegexValidator(r"^/(.*/)?cordis\.patch\.yml\Z", _("The whole path of a file named cordis.patch.yml."))
        ],
    )
    is_default = models.BooleanField(_("the team's default"), default=False)
    revision = models.PositiveBigIntegerField(_("revision"), default=0, editable=False)
    document = models.JSONField(_("settings"), default=dict, editable=False)
    changed_at = models.DateTimeField(_("settings changed"), null=True, blank=True, editable=False)
    changed_by = models.ForeignKey(
        "access.User",
        models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
        verbose_name=_("changed by"),
    )
    file_digest = models.CharField(_("digest of the file"), max_length=64, blank=True, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta(TeamOwned.Meta):
        verbose_name = _("profile")
        verbose_name_plural = _("profiles")
        constraints = [
            models.UniqueConstraint(fields=["team", "name", "machine"], name="one_profile_per_team_name_and_machine"),
            models.UniqueConstraint(fields=["team"], condition=Q(is_default=True), name="one_default_profile_per_team"),
        ]

    def __str__(self) -> str:
        return f"{self.name} @ {self.machine}" if self.machine else self.name

    def clean(self) -> None:
        """A form without the team (an existing row's) checks no constraint that has it; here they are, in words."""
        others = Profile.unscoped.filter(team=self.team_id).exclude(pk=self.pk)
        wrong: dict[str, Any] = {}
        if self.is_default and others.filter(is_default=True).exists():
            wrong["is_default"] = _("Another profile is the team's default; take that from it first.")
        if others.filter(name=self.name, machine=self.machine).exists():
            wrong["name"] = _("The team has a profile of this name on this machine already.")
        if wrong:
            raise ValidationError(wrong)

    def save(self, *args: Any, **options: Any) -> None:
        """As ever, but of a row that is there only what people edit, so that no save undoes one made in between."""
        if not self._state.adding and options.get("update_fields") is None:
            options["update_fields"] = [field.name for field in self._meta.concrete_fields if field.name in EDITED]
        super().save(*args, **options)


class Origin(models.TextChoices):
    SAVED = "saved", _("saved here")
    IMPORTED = "imported", _("read from a file")


class SettingsRevision(TeamOwned):
    """One revision of a profile's settings: the whole document after it, and the operations that made it. Never changed."""

    profile = models.ForeignKey(Profile, models.CASCADE, related_name="revisions", verbose_name=_("profile"))
    revision = models.PositiveBigIntegerField(_("revision"))
    document = models.JSONField(_("settings"))
    ops = models.JSONField(_("operations"), default=list)
    origin = models.CharField(_("came from"), max_length=10, choices=Origin, default=Origin.SAVED)
    at = models.DateTimeField(_("time"), auto_now_add=True)
    author = models.ForeignKey(
        "access.User", models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("author")
    )

    class Meta(TeamOwned.Meta):
        verbose_name = _("settings revision")
        verbose_name_plural = _("settings revisions")
        constraints = [models.UniqueConstraint(fields=["profile", "revision"], name="one_row_per_settings_revision")]

    def __str__(self) -> str:
        return f"{self.profile_id} r{self.revision}"


class EngineSnapshot(TeamOwned):
    """What our engine holds of a profile since its worker started: `config` is the `activeConfig` of inspect.

    Frozen: saving settings does not touch it, only the start of a worker takes a new one (DECISIONS 8).
    """

    profile = models.OneToOneField(Profile, models.CASCADE, related_name="snapshot", verbose_name=_("profile"))
    revision = models.PositiveBigIntegerField(_("revision"))
    config = models.JSONField(_("active settings"))
    taken_at = models.DateTimeField(_("taken"))

    class Meta(TeamOwned.Meta):
        verbose_name = _("engine snapshot")
        verbose_name_plural = _("engine snapshots")

    def __str__(self) -> str:
        return f"{self.profile_id} r{self.revision}"
