"""One-time login links: random, stored as a digest, valid for a day, used once.

A link is how the first admin gets in and how an admin lets a colleague in without a mail server. Showing its page
uses nothing up (mail scanners and chat previews fetch every address they see); only the button on it does.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from dshweb.access.models import LoginLink, User

VALID = timedelta(hours=24)


def digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def make(user: User) -> str:
    """A new secret for `user`; earlier unused ones end. Only its digest is stored, so it cannot be shown again."""
    secret = secrets.token_urlsafe(32)
    end(user)
    LoginLink.objects.create(user=user, digest=digest(secret), expires_at=timezone.now() + VALID)
    return secret


def end(user: User) -> None:
    """Unused links of `user` let nobody in any more."""
    now = timezone.now()
    LoginLink.objects.filter(user=user, used_at=None, expires_at__gt=now).update(expires_at=now)


def _usable() -> Q:
    return Q(used_at=None, expires_at__gt=timezone.now(), user__is_active=True)


def peek(secret: str) -> User | None:
    """Whom the link would log in; None when it is unknown, used or over. Changes nothing."""
    link = LoginLink.objects.select_related("user").filter(_usable(), digest=digest(secret)).first()
    return link.user if link else None


def use(secret: str) -> User | None:
    """Use the link up. Of any number of callers at once one gets the user, the others None."""
    user = peek(secret)
    if user is None:
        return None
    now = timezone.now()
    used = LoginLink.objects.filter(digest=digest(secret), used_at=None, expires_at__gt=now).update(used_at=now)
    return user if used else None


def nobody_can_log_in() -> User | None:
    """The first admin, as long as no admin of the installation has a password to log in with; None otherwise."""
    admins = User.objects.filter(is_superuser=True, is_active=True).order_by("pk")
    if any(admin.has_usable_password() for admin in admins):
        return None
    return admins.first()
