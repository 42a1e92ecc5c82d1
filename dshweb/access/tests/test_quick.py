"""The quick ways to tell who calls say what the usual ones say, for every state of a token and of a login."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth import get_user
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.db import connection
from django.http import HttpRequest
from django.test import Client
from django.utils import timezone

from dshweb.access.callers import Caller, caller_for_token, caller_for_user
from dshweb.access.models import ApiToken, Membership, Team, User
from dshweb.access.quick import caller_by_login, caller_by_token
from dshweb.access.services import signout, tokens


def usual(secret: str) -> Caller | None:
    row = tokens.verify(secret)
    caller = caller_for_token(row) if row else None
    return caller if caller and caller.grants else None


def told(caller: Caller | None) -> tuple | None:
    if caller is None:
        return None
    token = caller.token
    return caller.user.pk, caller.user.home_id, caller.grants, token and (token.pk, token.team_id, token.scopes)


def revoke(row: ApiToken) -> None:
    tokens.revoke(row, row.user)


def expire(row: ApiToken) -> None:
    ApiToken.unscoped.filter(pk=row.pk).update(expires_at=timezone.now() - timedelta(seconds=1))


def expires_later(row: ApiToken) -> None:
    ApiToken.unscoped.filter(pk=row.pk).update(expires_at=timezone.now() + timedelta(hours=1))


def leave(row: ApiToken) -> None:
    Membership.objects.filter(user=row.user, team=row.team).delete()


def disable(row: ApiToken) -> None:
    User.objects.filter(pk=row.user_id).update(is_active=False)


def promote(row: ApiToken) -> None:
    Membership.objects.filter(user=row.user, team=row.team).update(role="admin", can_review=True)


@pytest.mark.parametrize("change", [None, revoke, expire, expires_later, leave, disable, promote])
def test_a_token_in_every_state(people, change):
    Membership.objects.create(team=people.other_team, user=people.bob, role="admin")
    tokens.make(people.team, people.bob, "another", ["ingest"])
    tokens.make(people.other_team, people.bob, "elsewhere", ["review"])
    tokens.make(people.team, people.alice, "of alice", ["read"])
    row, secret = tokens.make(people.team, people.bob, "t", ["read", "ingest"])
    assert told(caller_by_token(secret)) == told(usual(secret))
    if change is not None:
        change(row)
    wanted = told(usual(secret))
    assert (wanted is None) == (change in (revoke, expire, leave, disable))
    assert told(caller_by_token(secret)) == wanted


@pytest.mark.parametrize(
    "secret", ["", "dshw_", "dshw_" + "x" * 43, "dshw_" + "x" * 500, "other", "dshw_\x00", "\x020"]
)
def test_what_is_no_token(people, secret):
    assert caller_by_token(secret) is None


def test_its_use_is_noted_at_most_once_a_minute(people, django_assert_num_queries):
    row, secret = tokens.make(people.team, people.bob, "t", ["read"])
    caller_by_token(secret)
    row.refresh_from_db()
    assert row.last_used_at is not None
    with django_assert_num_queries(1):
        caller_by_token(secret)


def login(user: User) -> str:
    client = Client()
    client.force_login(user)
    return client.cookies["dshweb_session"].value


def by_django(key: str) -> Caller | None:
    request = HttpRequest()
    request.session = SessionStore(key)
    user = get_user(request)
    return caller_for_user(user) if user.is_authenticated else None


def new_password(user: User, key: str) -> None:
    user.set_password("another")
    user.save()


def everywhere(user: User, key: str) -> None:
    signout.everywhere(user, with_tokens=False)


def ends(user: User, key: str) -> None:
    Session.objects.filter(pk=key).update(expire_date=timezone.now() - timedelta(seconds=1))


def gone(user: User, key: str) -> None:
    Session.objects.filter(pk=key).delete()


def inactive(user: User, key: str) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)


def deleted(user: User, key: str) -> None:
    user.delete()


def garbled(user: User, key: str) -> None:
    Session.objects.filter(pk=key).update(session_data="x" * 80)


def joins(user: User, key: str) -> None:
    Membership.objects.create(user=user, team=Team.objects.get(slug="theirs"), role="viewer")


@pytest.mark.parametrize("change", [None, new_password, everywhere, ends, gone, inactive, deleted, garbled, joins])
def test_a_login_in_every_state(people, change):
    login(people.alice)
    key = login(people.bob)
    assert told(caller_by_login(key)) == told(by_django(key))
    if change is not None:
        change(people.bob, key)
    found = told(caller_by_login(key))
    assert found == told(by_django(key))
    assert (found is None) == (change not in (None, joins))


@pytest.mark.parametrize("key", ["", "x", "x" * 5000, "\x00", "' or 1=1"])
def test_what_is_no_login(db, key):
    assert caller_by_login(key) is None


def test_another_store_of_sessions_is_left_to_django(people, settings):
    key = login(people.bob)
    settings.SESSION_ENGINE = "django.contrib.sessions.backends.cache"
    assert caller_by_login(key) is None


def test_a_prepared_query_is_made_once_a_thread(people, django_assert_num_queries):
    key = login(people.bob)
    caller_by_login(key)
    with django_assert_num_queries(3):
        assert caller_by_login(key)
    assert connection.vendor in ("sqlite", "postgresql")
