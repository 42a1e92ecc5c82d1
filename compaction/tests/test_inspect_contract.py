"""`/better-compact/api/…` by its contract: every status code, their order, by login and by token, for every role."""

from __future__ import annotations

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client

from compaction.tests.asking import INSPECT, MEMBERS, MODELS, by_login, by_token, stranger
from dshweb.access.callers import caller_for_user
from dshweb.access.models import Membership, Scope, User
from dshweb.access.services import tokens
from dshweb.sessionlog.services.delete import delete_session

ROLES = ("viewer", "reviewer", "member", "admin")


@pytest.fixture
def who(people):
    """A member of `ours` with each role."""
    rita = User.objects.create_user("rita", password="rita-password")
    Membership.objects.create(team=people.team, user=rita, role="viewer", can_review=True)
    return {"viewer": people.vera, "reviewer": rita, "member": people.bob, "admin": people.alice}


def refused(answer, status: int, code: str) -> None:
    assert answer.status_code == status
    body = answer.json()
    assert body["code"] == code
    assert set(body) == {"code", "message"}
    assert body["message"]


def checked(answer) -> None:
    """What holds for every answer."""
    assert answer["Cache-Control"] == "no-store"
    assert answer["Content-Type"].startswith("application/json")
    assert not [name for name in answer.headers if name.lower().startswith("access-control-")]
    assert not answer.cookies


@pytest.mark.parametrize("way", ["login", "token"])
@pytest.mark.parametrize("role", ROLES)
def test_every_role_reads_both_ways(role, way, who, people, session):
    client = by_login(who[role]) if way == "login" else by_token(who[role], people.team)
    for url in (INSPECT, f"{INSPECT}?sessionId={session.session_id}"):
        answer = client.get(url)
        assert answer.status_code == 200
        checked(answer)
        assert tuple(answer.json()) == MEMBERS
    answer = client.get(MODELS)
    assert answer.status_code == 200
    checked(answer)
    assert answer.json()["enabled"] is True


@pytest.mark.parametrize("way", ["login", "token"])
def test_another_team_s_session_is_not_there(way, people, session):
    client = by_login(people.mallory) if way == "login" else by_token(people.mallory, people.other_team)
    answer = client.get(f"{INSPECT}?sessionId={session.session_id}")
    refused(answer, 404, "not-found")
    checked(answer)
    assert answer.content == client.get(f"{INSPECT}?sessionId=session-of-nobody").content


def test_a_token_of_one_team_does_not_reach_the_sessions_of_its_person_s_other_team(people, session):
    Membership.objects.create(team=people.other_team, user=people.alice, role="admin")
    answer = by_token(people.alice, people.other_team).get(f"{INSPECT}?sessionId={session.session_id}")
    refused(answer, 404, "not-found")


@pytest.mark.parametrize("url", [INSPECT, MODELS])
def test_nobody_is_told_so_and_a_bad_token_is_not_saved_by_a_good_cookie(url, people):
    for client in (stranger(), by_login(None)):
        answer = client.get(url)
        refused(answer, 401, "unauthorized")
        checked(answer)
    for header in ("Bearer dshw_nothing", "Basic YTpi", "Bearer", ""):
        answer = by_login(people.alice).get(url, headers={"Authorization": header})
        refused(answer, 401, "unauthorized")
    answer = stranger().get(url, headers={"Cookie": "dshweb_session=made-up"})
    refused(answer, 401, "unauthorized")


def test_a_login_that_was_ended_a_revoked_token_and_a_member_who_left_are_nobody(people):
    client, token = by_login(people.bob), by_token(people.bob, people.team)
    left = by_token(people.vera, people.team)
    people.bob.is_active = False
    people.bob.save()
    Membership.objects.filter(user=people.vera).delete()
    for one in (client, token, left):
        refused(one.get(INSPECT), 401, "unauthorized")


def test_what_ends_counts_at_the_next_call(people, session, data_dir):
    """Nothing of a caller or a session is remembered from one call to the next."""
    asked = f"{INSPECT}?sessionId={session.session_id}"
    row, secret = tokens.make(people.team, people.bob, "t", [Scope.READ])
    revoked = stranger(Authorization=f"Bearer {secret}")
    login, gone = by_login(people.vera), by_login(people.alice)
    for client in (revoked, login, gone):
        assert client.get(asked).status_code == 200
    tokens.revoke(row, people.bob)
    refused(revoked.get(asked), 401, "unauthorized")
    Membership.objects.filter(user=people.vera).delete()
    refused(login.get(asked), 404, "not-found")
    assert login.get(MODELS).json() == {"enabled": False, "routes": []}
    assert delete_session(session.pk, by=caller_for_user(people.alice))
    refused(gone.get(asked), 404, "not-found")
    User.objects.filter(pk=people.alice.pk).update(is_active=False)
    refused(gone.get(asked), 401, "unauthorized")


def test_too_many_bad_tokens_are_still_only_nobody(people, monkeypatch):
    cache.clear()
    monkeypatch.setattr("dshweb.access.services.attempts.TOKENS_PER_ADDRESS", 1)
    for _ in range(3):
        answer = stranger().get(INSPECT, headers={"Authorization": "Bearer dshw_nothing"})
        refused(answer, 401, "unauthorized")
    assert answer["Retry-After"]
    cache.clear()


def test_a_token_without_the_scope_is_refused(people):
    answer = by_token(people.bob, people.team, Scope.INGEST).get(INSPECT)
    refused(answer, 403, "forbidden")
    checked(answer)


OUTSIDE = [
    {"host": "evil.example"},
    {"host": ""},
    {"host": "testserver,evil.example"},
    {"host": "user@testserver"},
    {"origin": "https://evil.example"},
    {"origin": "null"},
    {"origin": "http://testserver:8080"},
    {"origin": "file://testserver"},
    {"origin": "http://[::1"},
    {"sec-fetch-site": "cross-site"},
]


@pytest.mark.parametrize("headers", OUTSIDE, ids=lambda headers: "=".join(*headers.items()))
@pytest.mark.parametrize("method", ["get", "post", "head", "options"])
def test_who_stands_outside_the_fence_is_refused_first(method, headers, people):
    for client in (stranger(), by_login(people.alice)):
        answer = getattr(client, method)(f"{INSPECT}?what=ever", headers=headers)
        assert answer.status_code == 403
        checked(answer)
    refused(by_login(people.alice).get(INSPECT, headers=headers), 403, "forbidden")


def test_who_names_no_host_stands_outside(people):
    client = Client()
    client.force_login(people.alice)
    refused(client.get(INSPECT), 403, "forbidden")


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://testserver"},
        {"origin": "http://testserver:80"},
        {"origin": "https://testserver"},
        {"host": "testserver:8000", "origin": "http://testserver:8000"},
        {"sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "none"},
    ],
)
def test_the_same_origin_is_let_in(headers, people):
    assert by_login(people.vera).get(INSPECT, headers=headers).status_code == 200


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete", "head", "options", "trace"])
@pytest.mark.parametrize("url", [INSPECT, MODELS, f"{INSPECT}?what=ever", f"{INSPECT}?sessionId=session-of-nobody"])
def test_only_get_and_only_for_who_is_let_in(method, url, people):
    assert getattr(stranger(), method)(url).status_code == 401
    for client in (by_login(people.alice), by_token(people.alice, people.team)):
        answer = getattr(client, method)(url)
        assert answer.status_code == 405
        assert answer["Allow"] == "GET"
        checked(answer)


@pytest.mark.parametrize(
    "query",
    [
        "sessionId=", "sessionId", "sessionId=a&sessionId=a", "sessionId=a&sessionId=", "what=ever", "session_id=a", "=a",
        "sessionId=a&what=ever", "sessionid=a", "&".join(f"a{n}=1" for n in range(50)),
    ],
)  # fmt: skip
def test_a_query_that_is_none_is_refused_before_anything_is_looked_up(query, people, session):
    query = query.replace("=a", f"={session.session_id}")
    answer = by_login(people.vera).get(f"{INSPECT}?{query}")
    refused(answer, 400, "bad-request")
    checked(answer)


def test_models_ignores_the_query(people):
    assert by_login(people.vera).get(f"{MODELS}?sessionId=&what=ever").json()["enabled"] is True


@pytest.mark.parametrize("name", ["session-of-nobody", "%00", "%ff", "a" * 3000, "%ed%a0%80", "' or 1=1"])
def test_a_session_that_is_not_there(name, people, session):
    answer = by_login(people.vera).get(f"{INSPECT}?sessionId={name}")
    refused(answer, 404, "not-found")


def test_other_addresses_below_the_fence(people):
    refused(by_login(people.vera).get("/better-compact/api/else"), 404, "not-found")
    refused(stranger().get("/better-compact/"), 401, "unauthorized")


@pytest.mark.parametrize("hosts", [[], ["*"], ["testserver", "*"]])
@pytest.mark.parametrize("method", ["get", "post", "head"])
def test_without_a_fence_nobody_is_answered(hosts, method, people, settings):
    settings.ALLOWED_HOSTS = hosts
    for client in (stranger(), by_login(people.alice)):
        answer = getattr(client, method)(f"{INSPECT}?what=ever", headers={"host": "evil.example"})
        assert answer.status_code == 503
        checked(answer)


def test_without_a_database_nobody_is_answered(people, monkeypatch):
    from django.db import OperationalError

    client = by_login(people.alice)

    def away() -> None:
        raise OperationalError("connection refused")

    with monkeypatch.context() as patch:
        patch.setattr(connection, "ensure_connection", away)
        answer = client.get(INSPECT, headers={"host": "evil.example"})
    refused(answer, 503, "unavailable")
    checked(answer)


def test_a_lost_table_or_connection_midway_is_503_too(people, monkeypatch):
    from django.db import OperationalError

    from compaction import inspecting

    def away(*_args: object) -> None:
        raise OperationalError("the server closed the connection")

    client = by_login(people.alice)
    monkeypatch.setattr(inspecting, "asked", away)
    refused(client.get(INSPECT), 503, "unavailable")


def test_a_fault_of_ours_is_a_500_of_the_same_kind(people, monkeypatch, caplog):
    from compaction import inspecting

    def wrong(*_args: object) -> None:
        raise RuntimeError("a text of a log")

    client = by_login(people.alice)
    monkeypatch.setattr(inspecting, "body", wrong)
    answer = client.get(INSPECT)
    refused(answer, 500, "internal")
    checked(answer)
    assert b"a text of a log" not in answer.content


def test_addresses_outside_are_answered_as_ever(people):
    assert stranger().get("/better-compactness/").status_code in (302, 404)
    assert by_login(people.alice).get("/sessions/").status_code == 200
