"""Teams and their members."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _


class User(AbstractUser):
    """A person. Language, theme and time zone follow the person from browser to browser; empty means the browser's own.

    `home` is the team that made the account: its admins may let the person in again (services.members.why_no_link).
    Without one, only a superuser may: who makes login links for an account can become it.
    """

    language = models.CharField(_("language"), max_length=16, blank=True)
    theme = models.CharField(_("theme"), max_length=8, blank=True)
    time_zone = models.CharField(_("time zone"), max_length=64, blank=True)
    home = models.ForeignKey(
        "access.Team", models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("team of the account")
    )
    logins_ended = models.PositiveIntegerField(default=0, editable=False)

    def _get_session_auth_hash(self, secret: str | None = None) -> str:
        """Every login carries this; it changes with the password and when all logins are ended (services.signout)."""
        before = super()._get_session_auth_hash(secret)  # type: ignore[misc]
        if not self.logins_ended:
            return before
        return salted_hmac("dshweb.access.logins", f"{before}:{self.logins_ended}", algorithm="sha256").hexdigest()


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
