"""Teams and their members."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.translation import gettext_lazy as _


class User(AbstractUser):
    """A person. Language and theme follow the person from browser to browser; empty means the browser's own."""

    language = models.CharField(_("language"), max_length=16, blank=True)
    theme = models.CharField(_("theme"), max_length=8, blank=True)


class Visibility(models.TextChoices):
    """Who in a team sees the content of its sessions. Numbers about sessions are always for the whole team."""

    TEAM = "team", _("the whole team")
    OWNER = "owner", _("the session's owner and the team's admins")


class Team(models.Model):
    slug = models.SlugField(_("short name"), unique=True)
    name = models.CharField(_("name"), max_length=120)
    content_visibility = models.CharField(
        _("who sees session content"), max_length=8, choices=Visibility, default=Visibility.TEAM
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name = _("team")
        verbose_name_plural = _("teams")

    def __str__(self) -> str:
        return self.name


class Role(models.TextChoices):
    VIEWER = "viewer", _("viewer")
    MEMBER = "member", _("member")
    ADMIN = "admin", _("admin")


class Membership(models.Model):
    team = models.ForeignKey(Team, models.CASCADE, related_name="memberships", verbose_name=_("team"))
    user = models.ForeignKey(User, models.CASCADE, related_name="memberships", verbose_name=_("user"))
    role = models.CharField(_("role"), max_length=8, choices=Role, default=Role.VIEWER)
    can_review = models.BooleanField(_("may review signals"), default=False)

    class Meta:
        verbose_name = _("membership")
        verbose_name_plural = _("memberships")
        constraints = [models.UniqueConstraint(fields=["team", "user"], name="one_membership_per_team_and_user")]

    def __str__(self) -> str:
        return f"{self.user} – {self.team}: {self.get_role_display()}"


class LoginLink(models.Model):
    """A link that logs one person in once. Only its digest is stored."""

    user = models.ForeignKey(User, models.CASCADE, related_name="login_links", verbose_name=_("user"))
    digest = models.CharField(max_length=64, unique=True, editable=False)
    expires_at = models.DateTimeField(_("expires"))
    used_at = models.DateTimeField(_("used"), null=True, blank=True)

    class Meta:
        verbose_name = _("login link")
        verbose_name_plural = _("login links")

    def __str__(self) -> str:
        return f"{self.user} – {self.expires_at:%Y-%m-%d %H:%M}"
