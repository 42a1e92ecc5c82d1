"""Who calls, in few and ready-made queries: the same answer as `services.tokens.verify` and `callers` give.

For calls that are made every few seconds by every open page. A test compares both ways for every state of a token.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.db.models import F
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from dshweb.access.callers import Caller, Grant
from dshweb.access.models import ApiToken, Membership, User
from dshweb.access.prepared import Prepared
from dshweb.access.services import tokens
from dshweb.text.lines import is_storable

KEY_CHARS = 60
_PERSON = ("id", "username", "password", "home_id", "logins_ended", "is_active", "is_superuser", "is_staff")

_found = Prepared(
    lambda digest: Membership.objects.filter(
        user__api_tokens__digest=digest,
        user__api_tokens__revoked_at=None,
        user__api_tokens__team=F("team"),
        user__is_active=True,
    ).values_list(
        "role", "can_review", "team_id", "user_id", "user__home_id", "user__api_tokens__pk", "user__api_tokens__scopes",
        "user__api_tokens__expires_at", "user__api_tokens__last_used_at",
    ),
    str,
)  # fmt: skip


def caller_by_token(secret: str) -> Caller | None:
    """The caller of a usable token, with no more of its person than the id and the home; None for any other.

    Its use is noted as `verify` does it: at most once a minute.
    """
    if not tokens.is_one(secret):
        return None
    now = timezone.now()
    for row in _found.rows(tokens.digest_of(secret)):
        return _caller(row, now)
    return None


def _caller(row: Any, now: Any) -> Caller | None:
    role, can_review, team, user, home, pk, scopes, expires, used = row
    if expires is not None and expires <= now:
        return None
    if used is None or now - used >= tokens.USED_EVERY:
        ApiToken.unscoped.filter(pk=pk).update(last_used_at=now)
    person = User(pk=user, home_id=home)
    return Caller(person, {team: Grant(role, can_review)}, ApiToken(pk=pk, team_id=team, user=person, scopes=scopes))


_logins = Prepared(
    lambda key: Session.objects.filter(session_key=key).values_list("session_data", "expire_date"), str
)  # fmt: skip
_people = Prepared(lambda pk: User.objects.filter(pk=pk, is_active=True).values_list(*_PERSON), int)
_grants = Prepared(
    lambda user: Membership.objects.filter(user=user).order_by("team_id").values_list("team_id", "role", "can_review"),
    int,
)


def caller_by_login(key: str) -> Caller | None:
    """The caller whose browser session has this key, as `django.contrib.auth.get_user` and `caller_for_user` find it.

    None: nobody's, or one that only Django's own way can judge (another kind of store, a key that was replaced).
    """
    if settings.SESSION_ENGINE != "django.contrib.sessions.backends.db" or not is_storable(key):
        return None
    for data, ends in _logins.rows(key[:KEY_CHARS]):
        found = SessionStore().decode(data) if ends > timezone.now() else {}
        backend, number = found.get(BACKEND_SESSION_KEY), found.get(SESSION_KEY)
        if backend not in settings.AUTHENTICATION_BACKENDS or not str(number).isascii() or not str(number).isdigit():
            return None
        for row in _people.rows(int(str(number))):
            user = User(**dict(zip(_PERSON, row, strict=True)))
            if not constant_time_compare(str(found.get(HASH_SESSION_KEY)), user.get_session_auth_hash()):
                return None
            return Caller(user, {team: Grant(role, can) for team, role, can in _grants.rows(user.pk)})
    return None
