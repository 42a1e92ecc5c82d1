"""What `/better-compact/api/…` answers: members by their rules, nulls, and which profile and session is meant."""

from __future__ import annotations

import fcntl
import json
import os

import pytest

from compaction.models import EngineSnapshot, LogFacts, Profile
from compaction.services import engine
from compaction.services.profiles import default_of
from compaction.tests.asking import INSPECT, MODELS, bring_in, by_login, by_token
from dshweb.access.models import Membership, Team, User, Visibility
from dshweb.sessionlog.models import Session, SourceFile
from dshweb.sessionlog.services import writer
from dshweb.sessionlog.services.writer import LOCKS


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
    session = bring_in(people, "cancelled-compactions")
    assert ask(people.vera, session)["lastCompaction"]["error"]
    Team.objects.filter(pk=people.team.pk).update(content_visibility=Visibility.OWNER)
    found = ask(people.vera, session)
    assert (found["lastCompaction"]["status"], found["lastCompaction"]["error"]) == ("cancelled", None)
    assert any("owner" in note for note in found["diagnostics"])
    assert ask(people.alice, session)["lastCompaction"]["error"]


def test_a_person_of_two_teams_is_answered_for_the_one_its_account_is_of(people, session):
    """DECISIONS 7: without a session the caller's own team counts, with one the session's."""
    Membership.objects.create(team=people.other_team, user=people.bob, role="viewer")
    Session.unscoped.create(team=people.other_team, session_id="session-of-theirs")
    for team, tokens in ((people.team, 111), (people.other_team, 222)):
        Profile.unscoped.filter(pk=default_of(team).pk).update(document={"retainTokens": tokens})
        engine.take(default_of(team))
    theirs = Session.unscoped.get(session_id="session-of-theirs")
    for home, kept in ((people.team, 111), (people.other_team, 222)):
        User.objects.filter(pk=people.bob.pk).update(home=home)
        assert ask(people.bob)["activeConfig"]["retainTokens"] == kept
        assert ask(people.bob, session)["activeConfig"]["retainTokens"] == 111
        assert ask(people.bob, theirs)["activeConfig"]["retainTokens"] == 222


def test_of_two_sessions_with_one_id_the_caller_sees_its_own_team_s(people, session):
    twin = Session.unscoped.create(team=people.other_team, session_id=session.session_id)
    assert ask(people.mallory, twin)["lastCompaction"] is None
    assert ask(people.vera, session)["lastCompaction"]
    Membership.objects.create(team=people.other_team, user=people.bob, role="viewer")
    for home, there in ((people.team, True), (people.other_team, False)):
        User.objects.filter(pk=people.bob.pk).update(home=home)
        assert bool(ask(people.bob, twin)["lastCompaction"]) is there


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


@pytest.mark.skipif(not LOCKS.exists(), reason="this system lists no locks")
@pytest.mark.parametrize(
    ("preset", "owner"), [(None, "host"), ("better-compact", "better-compact-preset"), ("standard", "foreign-preset")]
)
def test_while_a_process_writes_the_session_its_engine_is_known(people, session, tmp_path, preset, owner):
    _named(session, preset)
    log = tmp_path / "session.v4.jsonl.zstd"
    SourceFile.unscoped.filter(log=session.current).update(location=str(log))
    lock = log.with_name("session.lock")
    assert ask(people.vera, session)["engine"]["owner"] == "unknown", "there is no lock"
    with lock.open("w") as held:
        assert ask(people.vera, session)["engine"]["owner"] == "unknown", "nobody holds it"
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        engine_told = ask(people.vera, session)["engine"]
        assert engine_told["owner"] == owner
        assert engine_told["inspectApplies"] is (preset != "standard")
        SourceFile.unscoped.filter(log=session.current).update(location="push:1-alice/session.v4.jsonl.zstd")
        assert ask(people.vera, session)["engine"]["owner"] == "unknown", "it stands on another machine"
    SourceFile.unscoped.filter(log=session.current).update(location=str(log))
    assert ask(people.vera, session)["engine"]["owner"] == "unknown", "the process is gone"


def test_locks_of_other_kinds_and_lines_nobody_knows_are_no_writer(tmp_path, monkeypatch):
    lock = tmp_path / "session.lock"
    lock.touch()
    seen = lock.stat()
    place = f"{os.major(seen.st_dev):02x}:{os.minor(seen.st_dev):02x}:{seen.st_ino} 0 EOF"
    listed = tmp_path / "locks"
    monkeypatch.setattr(writer, "LOCKS", listed)
    log = str(tmp_path / "session.v4.jsonl.zstd")
    assert writer.is_written(log) is None, "no list"
    for line, held in (
        (f"1: FLOCK  ADVISORY  WRITE 7 {place}", True),
        (f"1: FLOCK  ADVISORY  READ  7 {place}", False),
        (f"1: POSIX  ADVISORY  WRITE 7 {place}", False),
        (f"1: -> FLOCK  ADVISORY  WRITE 7 {place}", False),
        ("1: FLOCK  ADVISORY  WRITE 7 <none>:0 0 EOF", False),
        ("what is this", False),
    ):
        listed.write_text(f"{line}\n")
        assert writer.is_written(log) is held, line
    assert writer.is_written("upload:1-x/session.v4.jsonl.zstd") is None
    assert writer.is_written("/no/such\0place") is None
