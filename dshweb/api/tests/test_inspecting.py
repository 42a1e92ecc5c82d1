"""Budgets of a named profile, and other settings tried on a recorded session."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from compaction import trying
from compaction.models import LogFacts, Profile
from compaction.services import engine
from compaction.services.profiles import default_of
from dshweb.access.models import Membership, Team, Visibility
from dshweb.sessionlog.models import LogFile, Session, SourceFile
from dshweb.sessionlog.services import store
from dshweb.sessionlog.services.ingest import Import, ingest_file

HOST = {"host": "testserver"}
CORPUS = Path(__file__).parents[3] / "tests" / "data" / "corpus"


def bring_in(people, scenario: str) -> Session:
    path = next((CORPUS / scenario).rglob("session*.jsonl*"))
    ingest_file(path, run=Import.by(people.team, people.alice, inline=True))
    return SourceFile.unscoped.get(location=str(path)).log.session


@pytest.fixture
def session(people, data_dir) -> Session:
    return bring_in(people, "pressure-compaction")


@pytest.fixture
def as_vera(client, people):
    client.force_login(people.vera)
    return client


# ---- inspect


def test_a_named_profile_answers_as_the_fenced_address_does_for_the_default_one(as_vera, people, session):
    LogFacts.unscoped.filter(log=session.current).update(
        facts={**LogFacts.unscoped.get(log=session.current).facts, "preset": None}
    )
    profile = default_of(people.team)
    engine.take(profile)
    for query in ("", f"?sessionId={session.session_id}"):
        named = as_vera.get(f"/api/v1/profiles/{profile.pk}/inspect{query}").json()
        assert named == as_vera.get(f"/better-compact/api/inspect{query}", headers=HOST).json()


def test_each_profile_has_its_own_budget(as_vera, people, session):
    row = LogFacts.unscoped.get(log=session.current)
    row.facts["preset"] = None
    row.save()
    other = Profile.unscoped.create(team=people.team, name="other", document={"retainTokens": 1234})
    found = as_vera.get(f"/api/v1/profiles/{other.pk}/inspect", {"sessionId": session.session_id}).json()
    assert found["budget"]["retainTokens"] == 1234
    # the shipped table states 1 000 000 for this model; the log's own window is what only unknown models go by
    assert found["budget"]["contextWindow"] == 1_000_000


def test_a_session_of_another_team_is_not_shown_under_a_profile(client, people, session):
    Membership.objects.create(team=people.other_team, user=people.alice, role="admin")
    theirs = default_of(people.other_team)
    client.force_login(people.alice)
    url = f"/api/v1/profiles/{theirs.pk}/inspect"
    assert client.get(url).status_code == 200
    assert client.get(url, {"sessionId": session.session_id}).status_code == 404


def test_the_command_prints_the_same_body(as_vera, people, session):
    out = StringIO()
    call_command("inspect", session.session_id, team=people.team.slug, stdout=out)
    answer = as_vera.get("/better-compact/api/inspect", {"sessionId": session.session_id}, headers=HOST).json()
    assert json.loads(out.getvalue()) == answer
    with pytest.raises(CommandError, match="session-of-nobody"):
        call_command("inspect", "session-of-nobody", team=people.team.slug)


# ---- what if


def ask(client, session: Session, **query):
    return client.get(f"/api/v1/sessions/{session.pk}/what-if", query)


RECORDED = {"headroomTokens": 2000, "maxTokens": 1200, "retainTokens": 6000}


@pytest.mark.parametrize("scenario", ["pressure-compaction", "pressure-compaction-zh", "failed-compaction-auto"])
def test_with_a_threshold_at_what_was_recorded_it_fires_where_the_harness_did(as_vera, people, data_dir, scenario):
    session = bring_in(people, scenario)
    marks = ask(as_vera, session).json()["marks"]
    before = min(one["beforeTokens"] for one in marks)
    window = 21_000
    found = ask(
        as_vera, session, thresholdRatio=before / window, headroomTokens=0, maxTokens=1200, retainTokens=3000
    ).json()
    fired = [one["seq"] for one in found["points"] if one["fired"]]
    crossing = [one["seq"] for one in found["points"] if one["crossing"]]
    assert fired
    assert crossing[0] == fired[0]
    first = found["points"][0]
    assert first["contextWindow"] == window
    assert first["totalTokens"] >= first["thresholdTokens"]
    assert first["rangeTokens"] > 0


def test_the_saved_settings_are_what_others_are_tried_on(as_vera, people, session):
    Profile.unscoped.filter(team=people.team).update(document={"headroomTokens": 5000, "retainTokens": 700})
    found = ask(as_vera, session, thresholdRatio=0.5).json()["settings"]
    assert (found["headroomTokens"], found["thresholdRatio"], found["retainTokens"]) == (5000, 0.5, 700)
    found = ask(as_vera, session, retainRatio=0.1).json()["settings"]
    assert found["retainRatio"] == 0.1
    assert "retainTokens" not in found


def test_a_large_window_never_fires_and_counts_add_up(as_vera, session):
    found = ask(as_vera, session, contextWindow=1_000_000).json()
    assert found["over"] == found["crossings"] == 0
    assert found["looks"] > found["fired"] > 0  # what really fired is shown all the same
    assert [one["over"] for one in found["points"]] == [False] * found["fired"]
    below = found["looks"] - found["over"] - found["unknown"]
    assert below >= 0


def test_no_usable_trigger_is_said_and_nothing_is_over(as_vera, session):
    found = ask(as_vera, session, headroomTokens=900_000).json()
    assert found["unknown"] == found["looks"]
    assert any("no usable trigger" in note for note in found["notes"])


@pytest.mark.parametrize(
    "query",
    [{"thresholdRatio": 0.5, "retainRatio": 0.9}, {"headroomTokens": 0}, {"retainRatio": 0.1, "retainTokens": 5}],
)
def test_settings_the_harness_refuses_are_refused(as_vera, session, query):
    answer = ask(as_vera, session, **query)
    assert answer.status_code == 422
    assert answer.json()["code"] == "settings/rejected"


def test_only_who_sees_the_session_s_content_tries_settings_on_it(client, people, session):
    Team.objects.filter(pk=people.team.pk).update(content_visibility=Visibility.OWNER)
    for user, status in ((people.vera, 404), (people.bob, 404), (people.alice, 200), (people.mallory, 404)):
        client.force_login(user)
        assert ask(client, session).status_code == status


def test_a_log_that_is_too_large_lost_or_waited_for_is_said_to_be(as_vera, session, monkeypatch):
    log = LogFile.unscoped.get(pk=session.current_id)
    monkeypatch.setattr(trying, "WAIT_SECONDS", 0.01)
    with trying._alone():
        answer = ask(as_vera, session)
    assert (answer.status_code, answer["Retry-After"]) == (429, "5")
    store.delete(log.stored)
    assert ask(as_vera, session).status_code == 410
    LogFile.unscoped.filter(pk=log.pk).update(accounting={**log.accounting, "decoded_bytes": trying.MOST_BYTES + 1})
    assert ask(as_vera, session).status_code == 413


def test_marks_say_how_full_it_was(as_vera, session):
    found = ask(as_vera, session).json()["marks"]
    assert found
    for one in found:
        assert one["fill"] == pytest.approx(one["beforeTokens"] / 21_000)
        assert one["trigger"] == "automatic"
        assert (one["provider"], one["model"]) == ("deepseek-official", "deepseek-flash")
        assert (one["contextWindow"], one["maxTokens"]) == (21_000, 2000)


def test_of_very_many_compactions_the_newest_are_told_and_the_others_counted(as_vera, people, data_dir, monkeypatch):
    session = bring_in(people, "repeated-compaction")
    every = ask(as_vera, session).json()
    assert every["moreMarks"] == 0
    monkeypatch.setattr(trying, "SHOWN", 1)
    found = ask(as_vera, session).json()
    assert found["marks"] == every["marks"][-1:]
    assert found["moreMarks"] == len(every["marks"]) - 1 > 0
