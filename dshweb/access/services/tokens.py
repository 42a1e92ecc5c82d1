"""API tokens: `dshw_` and 32 random bytes, shown once, stored as SHA-256.

A token acts for the person who made it, in one team, with the role that person has there when the token is used. The
secret has 256 bits of its own, so a plain digest is enough: there is nothing to guess that a slow hash would protect.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import Q
from django.utils import timezone

from dshweb.access.models import ApiToken, Scope, Team, User
from dshweb.access.services.log import note_access

START = "dshw_"
SHOWN = len(START) + 6
MAX_LENGTH = 100
USED_EVERY = timedelta(minutes=1)


class BadToken(ValueError):
    """A token that cannot be made; the message says why."""


def digest_of(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def make(
    team: Team,
    user: User,
    name: str,
    scopes: Iterable[str],
    expires_at: datetime | None = None,
    by: User | None = None,
) -> tuple[ApiToken, str]:
    """A new token that acts for `user`, and its secret, which is nowhere stored. `by`: who made it, if another.

    Raises BadToken.
    """
    wanted = list(dict.fromkeys(scopes))
    unknown = [scope for scope in wanted if scope not in Scope.values]
    if unknown or not wanted:
        raise BadToken(f"scopes: {', '.join(unknown) or 'none'}; known are {', '.join(Scope.values)}")
    if expires_at is not None and expires_at <= timezone.now():
        raise BadToken("the token would have expired already")
    if not team.memberships.filter(user=user).exists():
        raise BadToken(f"{user} is not a member of {team}")
    secret = START + secrets.token_urlsafe(32)
    token = ApiToken.unscoped.create(
        team=team,
        user=user,
        name=name[:80],
        prefix=secret[:SHOWN],
        digest=digest_of(secret),
        scopes=wanted,
        expires_at=expires_at,
    )
    for_whom = "" if by is None or by.pk == user.pk else f" for {user}"
    note_access(team, "token-made", f"{token.name} ({token.prefix}…){for_whom}", user=by or user)
    return token, secret


def is_one(secret: str) -> bool:
    """Whether this can be a token at all."""
    return secret.startswith(START) and len(secret) <= MAX_LENGTH


def verify(secret: str) -> ApiToken | None:
    """The token of this secret if it may be used now, else None. Notes its use at most once a minute."""
    if not is_one(secret):
        return None
    now = timezone.now()
    digest = digest_of(secret)
    current = Q(revoked_at=None) & (Q(expires_at=None) | Q(expires_at__gt=now)) & Q(user__is_active=True)
    token = ApiToken.unscoped.select_related("user", "team").filter(current, digest=digest).first()
    if token is None or not hmac.compare_digest(token.digest, digest):
        return None
    if token.last_used_at is None or now - token.last_used_at >= USED_EVERY:
        ApiToken.unscoped.filter(pk=token.pk).update(last_used_at=now)
    return token


def revoke(token: ApiToken, by: User | None) -> bool:
    """End the token. False: it had ended before."""
    if not ApiToken.unscoped.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now()):
        return False
    note_access(token.team, "token-revoked", f"{token.name} ({token.prefix}…)", user=by)
    return True


def revoke_all(team_id: int, user_id: int, by: User | None) -> None:
    """End all tokens of a person for a team."""
    rows = ApiToken.objects.for_team(team_id).filter(user=user_id, revoked_at=None).select_related("team")
    for token in rows:
        revoke(token, by)
