"""`/better-compact/api/…` by its contract: every status code, their order, by login and by token, for every role."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client

from compaction.models import EngineSnapshot, LogFacts, Profile
from compaction.services import engine
from dshweb.access.callers import caller_for_user
from dshweb.access.models import Membership, Scope, Team, User, Visibility
from dshweb.access.services import tokens
from dshweb.sessionlog.models import Session, SourceFile
from dshweb.sessionlog.services.delete import delete_session
from dshweb.sessionlog.services.ingest import Import, ingest_file

INSPECT, MODELS = "/better-compact/api/inspect", "/better-compact/api/models"
CORPUS = Path(__file__).parents[2] / "tests" / "data" / "corpus"
ROLES = ("viewer", "reviewer", "member", "admin")
MEMBERS = ("activeConfig", "requiresReload", "sessionId", "diagnostics", "engine", "budget", "preview", "lastCompaction",
           "handoffContinuation")  # fmt: skip


def log_of(scenario: str) -> Path:
    return next((CORPUS / scenario).rglob("session*.jsonl*"))


@pytest.fixture
def session(people, data_dir) -> Session:
    """A session of `ours` that alice brought in."""
    path = log_of("pressure-compaction")
    ingest_file(path, run=Import.by(people.team, people.alice, inline=True))
    return SourceFile.unscoped.get(location=str(path)).log.session


@pytest.fixture
def who(people):
    """A member of `ours` with each role."""
    rita = User.objects.create_user("rita", password="rita-password")
    Membership.objects.create(team=people.team, user=rita, role="viewer", can_review=True)
    return {"viewer": people.vera, "reviewer": rita, "member": people.bob, "admin": people.alice}


def by_login(user: User | None) -> Client:
    client = Client()
    if user is not None:
        client.force_login(user)
    return client


def by_token(user: User, team: Team, *scopes: str) -> Client:
    _row, secret = tokens.make(team, user, "t", scopes or (Scope.READ,))
    return Client(headers={"Authorization": f"Bearer {secret}"})


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
    for client in (Client(), by_login(None)):
        answer = client.get(url)
        refused(answer, 401, "unauthorized")
        checked(answer)
    for header in ("Bearer dshw_nothing", "Basic YTpi", "Bearer", ""):
        answer = by_login(people.alice).get(url, headers={"Authorization": header})
        refused(answer, 401, "unauthorized")
    answer = Client().get(url, headers={"Cookie": "dshweb_session=made-up"})
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
    revoked = Client(headers={"Authorization": f"Bearer {secret}"})
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
        answer = Client().get(INSPECT, headers={"Authorization": "Bearer dshw_nothing"})
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
    for client in (Client(), by_login(people.alice)):
        answer = getattr(client, method)(f"{INSPECT}?what=ever", headers=headers)
        assert answer.status_code == 403
        checked(answer)
    refused(by_login(people.alice).get(INSPECT, headers=headers), 403, "forbidden")


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
    assert getattr(Client(), method)(url).status_code == 401
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
    refused(Client().get("/better-compact/"), 401, "unauthorized")


@pytest.mark.parametrize("hosts", [[], ["*"], ["testserver", "*"]])
@pytest.mark.parametrize("method", ["get", "post", "head"])
def test_without_a_fence_nobody_is_answered(hosts, method, people, settings):
    settings.ALLOWED_HOSTS = hosts
    for client in (Client(), by_login(people.alice)):
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
    assert Client().get("/better-compactness/").status_code in (302, 404)
    assert by_login(people.alice).get("/sessions/").status_code == 200


# ---- bodies


def ask(user: User, session: Session | None = None) -> dict:
    return by_login(user).get(INSPECT + (f"?sessionId={session.session_id}" if session else "")).json()


def test_without_a_session_everything_about_one_is_null(people):
    found = ask(people.vera)
    nulls = ("sessionId", "engine", "budget", "preview", "lastCompaction", "handoffContinuation")
    assert [found[name] for name in nulls] == [None] * 6
    assert found["activeConfig"] is None  # no worker has started
    assert found["requiresReload"] is False
    assert isinstance(found["diagnostics"], list)


def test_the_active_config_is_what_the_engine_took_and_not_what_was_saved_since(people, session):
    profile = Profile.objects.for_team(people.team).get(is_default=True)
    engine.take(profile)
    assert ask(people.vera)["activeConfig"]["mode"] == "goal"
    Profile.unscoped.filter(pk=profile.pk).update(document={"retainTokens": 5000}, revision=1)
    found = ask(people.vera, session)
    assert found["requiresReload"] is True
    assert found["activeConfig"]["retainRatio"] == 0.16
    engine.take(Profile.unscoped.get(pk=profile.pk))
    found = ask(people.vera, session)
    assert found["requiresReload"] is False
    assert found["activeConfig"]["retainTokens"] == 5000
    assert "retainRatio" not in found["activeConfig"]
    assert EngineSnapshot.unscoped.count() == 1


def test_a_session_of_another_preset_shows_no_budget_but_its_own_last_compaction(people, session):
    found = ask(people.vera, session)
    assert found["sessionId"] == session.session_id
    assert found["engine"]["owner"] == "unknown"
    assert found["engine"]["inspectApplies"] is (session.preset in ("", "better-compact"))
    last = found["lastCompaction"]
    assert set(last) == {
        "id", "trigger", "status", "mode", "beforeTokens", "afterTokens", "durationMs", "cacheReadTokens", "cacheWriteTokens",
        "error",
    }  # fmt: skip
    assert (last["trigger"], last["status"]) == ("automatic", "completed")


def _named(session: Session, preset: str | None) -> None:
    row = LogFacts.unscoped.get(log=session.current)
    row.facts["preset"] = preset
    row.save()


@pytest.mark.parametrize("preset", [None, "better-compact", "standard"])
def test_budget_and_preview_are_for_no_preset_or_ours(people, session, preset):
    _named(session, preset)
    found = ask(people.vera, session)
    if preset == "standard":
        assert found["engine"] == {**found["engine"], "owner": "unknown", "inspectApplies": False}
        assert (found["budget"], found["preview"]) == (None, None)
        assert "standard" in found["engine"]["reason"]
        return
    assert found["engine"] == {**found["engine"], "owner": "unknown", "inspectApplies": True}
    assert list(found["budget"]) == [
        "contextWindow", "currentTokens", "measurement", "fixedTokens", "thresholdTokens", "retainTokens", "summaryMaxTokens",
    ]  # fmt: skip
    assert list(found["preview"]) == ["beforeTokens", "afterUpperBoundTokens", "rangeStart", "rangeEnd", "reason"]
    budget, preview = found["budget"], found["preview"]
    assert budget["measurement"] in ("measured", "estimated")
    assert budget["currentTokens"] == preview["beforeTokens"] > 0


def test_a_session_that_was_never_measured_has_nulls_and_never_a_zero(people, session):
    LogFacts.unscoped.all().delete()
    Session.unscoped.update(preset="")
    found = ask(people.vera, session)
    budget = found["budget"]
    assert budget.pop("measurement") == "unavailable"
    assert set(budget.values()) == {None}
    assert found["preview"].pop("reason").startswith("unavailable: ")
    assert set(found["preview"].values()) == {None}
    assert found["lastCompaction"] is None


def test_the_error_of_an_attempt_is_a_text_of_the_log_and_shown_like_one(people, data_dir):
    path = log_of("cancelled-compactions")
    ingest_file(path, run=Import.by(people.team, people.alice, inline=True))
    session = SourceFile.unscoped.get(location=str(path)).log.session
    assert ask(people.vera, session)["lastCompaction"]["error"]
    Team.objects.filter(pk=people.team.pk).update(content_visibility=Visibility.OWNER)
    found = ask(people.vera, session)
    assert (found["lastCompaction"]["status"], found["lastCompaction"]["error"]) == ("cancelled", None)
    assert any("owner" in note for note in found["diagnostics"])
    assert ask(people.alice, session)["lastCompaction"]["error"]


def test_a_person_in_no_team_is_answered_with_nothing(db):
    lone = User.objects.create_user("lone", password="lone-password")
    assert ask(lone)["activeConfig"] is None
    assert by_login(lone).get(MODELS).json() == {"enabled": False, "routes": []}


def test_models_lists_what_is_allowed(people):
    found = by_login(people.vera).get(MODELS).json()
    assert list(found) == ["enabled", "routes"]
    assert [list(route) for route in found["routes"]] == [["provider", "model", "efforts", "defaultEffort"]] * 2
    assert {route["model"] for route in found["routes"]} == {"deepseek-flash", "deepseek-v4-pro"}


def test_an_answer_costs_a_few_queries_whatever_the_session_holds(people, session, django_assert_max_num_queries):
    _named(session, None)
    client = by_token(people.vera, people.team)
    url = f"{INSPECT}?sessionId={session.session_id}"
    client.get(url)
    with django_assert_max_num_queries(6):
        assert json.loads(client.get(url).content)["budget"]["currentTokens"]


def test_no_log_is_decoded(people, session, monkeypatch):
    from dshweb.sessionlog.services import store

    def opened(name: str) -> None:
        raise AssertionError("a log was opened")

    monkeypatch.setattr(store, "opened", opened)
    assert ask(people.vera, session)["lastCompaction"]["id"]
