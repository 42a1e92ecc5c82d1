"""What-if beside the chart: the same as the what-if of one ratio, read once, for those who may read the session."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pytest
from django.core.cache import cache
from django.urls import reverse

from compaction import trying
from compaction.core.sweep import GRID
from compaction.models import Profile
from compaction.page import sweeping
from dshweb.access.models import Team, Visibility
from dshweb.sessionlog.models import LogFile, Session, SourceFile
from dshweb.sessionlog.services import store
from dshweb.sessionlog.services.ingest import Import, ingest_file
from dshweb.sessionlog.tests.core.logs import corpus_logs
from tests.builders import frame, header, write

CORPUS = Path(__file__).parents[3] / "tests" / "data" / "corpus"
OTHER = "session-00000000-0000-4000-8000-00000000000b"
SMALL = {"headroomTokens": 0, "maxTokens": 1000, "retainTokens": 200}


@pytest.fixture(autouse=True)
def _nothing_kept():
    cache.clear()


def brought(people, path: Path) -> LogFile:
    ingest_file(path, run=Import.by(people.team, people.alice, inline=True))
    return SourceFile.unscoped.select_related("log__session").get(location=str(path)).log


@pytest.fixture
def session(people, data_dir) -> Session:
    return brought(people, next((CORPUS / "repeated-compaction").rglob("session*.jsonl*"))).session


@pytest.fixture
def profile(people) -> Profile:
    return Profile.unscoped.create(team=people.team, name="p", document={"thresholdRatio": 0.5, **SMALL}, revision=1)


@pytest.fixture
def url(profile) -> str:
    return reverse("profile-what-if", args=[profile.pk])


def rows_of(page) -> dict:
    return json.loads(unescape(re.search(r'data-rows="([^"]*)"', page.content.decode())[1]))


# ---- the same as what-if


@pytest.mark.parametrize(
    ("scenario", "path"), [entry[:2] for entry in corpus_logs()], ids=lambda value: value if isinstance(value, str) else ""
)  # fmt: skip
def test_every_recorded_log_crosses_where_what_if_says(scenario, path, people, data_dir):
    log = LogFile(pk=1, team=people.team, stored="log", file_name=path.name, accounting={"decoded_bytes": 1})
    with path.open("rb") as source:
        store.append("log", source, start=0, stop=path.stat().st_size)
    for ratio in (0.02, 0.3, 0.65):
        document = {**SMALL, "retainTokens": 0, "thresholdRatio": ratio}
        looked = sweeping.look(log, document)
        tried = trying.try_settings(log, trying.other_settings({}, document))
        assert not tried.more
        assert [looked.trace.seq[n] for n in looked.chosen.crossings] == [
            one.point.seq for one in tried.shown if one.crossing
        ]
        assert {"looks": len(looked.trace), "over": looked.chosen.over, "unknown": looked.chosen.unknown} == {
            key: tried.looks[key] for key in ("looks", "over", "unknown")
        }
        assert sum(looked.trace.fired) == tried.looks["fired"]
        assert looked.rows[round(ratio * 100) - 1] == looked.chosen


def test_all_ratios_of_one_log(session, people):
    log = session.current
    document = {**SMALL, "retainTokens": 3000}
    looked = sweeping.look(log, document)
    assert any(row.count for row in looked.rows)
    for row in looked.rows:
        tried = trying.try_settings(log, trying.other_settings(document, {"thresholdRatio": row.ratio}))
        assert [looked.trace.seq[n] for n in row.crossings] == [one.point.seq for one in tried.shown if one.crossing]
        assert (row.over, row.unknown) == (tried.looks["over"], tried.looks["unknown"])


def test_a_ratio_that_the_rules_refuse_has_no_trigger_and_says_so(session):
    looked = sweeping.look(session.current, {**SMALL, "retainTokens": 0} | {"thresholdRatio": 0.5})
    assert not looked.why
    document = {key: value for key, value in SMALL.items() if key != "retainTokens"} | {"retainRatio": 0.3}
    looked = sweeping.look(session.current, document)
    refused = [row.ratio for row in looked.rows if row.thresholds[0] is None]
    assert refused == list(GRID[:30])
    assert set(looked.why.values()) == {"refused"}
    looked = sweeping.look(session.current, document | {"thresholdRatio": 0.2})
    assert (looked.chosen.thresholds[0], looked.chosen.unknown) == (None, len(looked.trace))
    assert looked.rows[40].thresholds[0] is not None


def test_a_model_policy_with_its_own_ratio_is_not_moved(client, people, profile, session, url):
    route = sweeping.trace_of(session.current).routes[0]
    policy = {"provider": route.provider, "model": route.model, "thresholdRatio": 0.4}
    Profile.unscoped.filter(pk=profile.pk).update(document={**SMALL, "modelPolicies": [policy]})
    client.force_login(people.vera)
    page = client.get(url, {"session": session.pk, "thresholdRatio": "0.9"})
    assert "a threshold of its own" in page.content.decode()
    assert len({str(row[0]) for row in rows_of(page)["rows"] if row}) == 1


def test_it_says_that_nothing_fires_while_automatic_compaction_is_off(client, people, session, url):
    client.force_login(people.vera)
    assert "nothing fires" not in client.get(url, {"session": session.pk, "auto": "on"}).content.decode()
    assert "nothing fires" in client.get(url, {"session": session.pk, "auto": "off"}).content.decode()


def test_a_session_of_another_engine_is_tried_and_told_to_be_one(client, people, session, url):
    client.force_login(people.alice)
    told = "Another compaction engine runs this session"
    Session.unscoped.update(preset="")
    assert told not in client.get(url, {"session": session.pk}).content.decode()
    Session.unscoped.update(preset="standard")
    assert told in client.get(url, {"session": session.pk}).content.decode()


def test_names_of_models_are_masked_and_too_many_of_them_are_refused(client, people, profile, data_dir, tmp_path, url):
    secret, frames = "ghp_" + "a1B2" * 9, [frame(header())]
    for turn in range(1, sweeping.MOST_ROUTES + 3):
        config = {"provider": secret, "model": f"m{turn}" * 90, "maxTokens": 10}
        rows = [
            {"type": "request/header", "data": {"header": {"config": config, "tools": []}}},
            {"type": "turn/start", "data": {"turn": turn}},
            {"type": "step/start", "data": {"turn": turn, "step": 1}},
            {"type": "step/end", "data": {"turn": turn, "step": 1}},
        ]
        frames += [frame({**row, "seq": turn * 4 - 4 + n, "time": 1}) for n, row in enumerate(rows)]
    few = brought(people, write(tmp_path / "a", frames[: 4 * 4 + 1]))
    policies = [{"provider": secret, "model": f"m{turn}" * 90, "thresholdRatio": 0.4} for turn in (1, 2)]
    Profile.unscoped.filter(pk=profile.pk).update(document={**SMALL, "modelPolicies": policies})
    client.force_login(people.vera)
    text = client.get(url, {"session": few.session.pk}).content.decode()
    assert text.count("a threshold of its own") == 2
    assert secret not in text
    many = brought(people, write(tmp_path / "b", frames, OTHER))
    assert "changed its model too often" in client.get(url, {"session": many.session.pk}).content.decode()


# ---- the fragment


def test_numbers_marks_and_links_of_the_drafts_ratio(client, people, profile, session, url):
    client.force_login(people.vera)
    page = client.get(
        url, {"session": session.pk, "thresholdRatio": "0.5", "retainForm": "tokens", "retainTokens": "3000"}
    )
    text = page.content.decode()
    assert "no-store" in page["Cache-Control"]
    drawn = page.context["drawing"]
    assert drawn.row.count == len(drawn.would) == text.count('class="sweep-would" href') == 3
    assert drawn.fired == len(drawn.really) == text.count('class="sweep-fired" href') == 3
    for place in drawn.places:
        assert f"/sessions/{session.pk}/events/{place.seq}?log={session.current_id}" in text
    assert "not a prediction" in text
    assert (
        f"/sessions/{session.pk}/what-if/?log={session.current_id}&amp;thresholdRatio=0.5&amp;headroomTokens=0" in text
    )
    assert "<script" not in text
    assert " style=" not in text


def test_the_rows_of_all_ratios_agree_with_what_is_drawn(client, people, session, url):
    client.force_login(people.vera)
    asked = {"session": session.pk, "retainForm": "tokens", "retainTokens": "3000"}
    data = rows_of(client.get(url, asked | {"thresholdRatio": "0.5"}))
    filled = []
    for row in data["rows"]:
        filled.append(row or filled[-1])
    assert len(filled) == len(GRID)
    for n in (20, 49, 80):
        page = client.get(url, asked | {"thresholdRatio": str(GRID[n])})
        drawn = page.context["drawing"]
        limits, over, count, unknown, places = filled[n][:5]
        assert limits[data["last"]] == drawn.trigger
        assert (over, count, unknown) == (drawn.row.over, drawn.row.count, drawn.row.unknown)
        assert [data["places"][place][1] for place in places] == [place.seq for place in drawn.would]


def test_a_field_that_was_not_sent_is_as_saved_and_an_empty_one_is_the_default(client, people, session, url):
    client.force_login(people.vera)
    assert client.get(url, {"session": session.pk}).context["ratio"] == "0.5"
    assert client.get(url, {"session": session.pk, "thresholdRatio": ""}).context["ratio"] == "0.8"
    assert client.get(url, {"session": session.pk, "thresholdRatio": "0.625"}).context["ratio"] == "0.625"


@pytest.mark.parametrize(
    "values",
    [{"thresholdRatio": "much"}, {"thresholdRatio": "0"}, {"headroomTokens": "-1"}, {"maxTokens": "1.5"},
     {"retainForm": "tokens", "retainTokens": "<b>"}, {"thresholdRatio": "9" * 400}],
)  # fmt: skip
def test_wrong_values_are_told_in_words(client, people, session, url, values):
    client.force_login(people.vera)
    page = client.get(url, {"session": session.pk, **values})
    assert page.status_code == 200
    assert page.context["problem"]
    assert "data-rows" not in page.content.decode()
    assert "<b>" not in page.content.decode()


def test_no_session_a_session_without_log_and_one_too_large_are_told(client, people, session, url, monkeypatch):
    client.force_login(people.vera)
    for none in ({}, {"session": "none"}, {"session": ""}):
        assert "Pick a session" in client.get(url, none).content.decode()
    monkeypatch.setattr(trying, "MOST_BYTES", 10)
    assert "too large" in client.get(url, {"session": session.pk}).content.decode()
    Session.unscoped.filter(pk=session.pk).update(current=None)
    assert "has not been read" in client.get(url, {"session": session.pk}).content.decode()


def test_another_ratio_reads_nothing_and_a_grown_log_is_read_anew(client, people, session, url, monkeypatch):
    client.force_login(people.vera)
    reads = []
    monkeypatch.setattr(trying, "_read", lambda log, read=trying._read: reads.append(log.pk) or read(log))
    for ratio in ("0.2", "0.4", "0.4", "0.9"):
        assert client.get(url, {"session": session.pk, "thresholdRatio": ratio, "headroomTokens": "5"}).context[
            "drawing"
        ]
    assert reads == [session.current_id]
    LogFile.unscoped.filter(pk=session.current_id).update(revision=99)
    client.get(url, {"session": session.pk})
    assert len(reads) == 2


def test_who_waited_for_another_reading_does_not_read_again(session, monkeypatch):
    log, reads = session.current, []
    monkeypatch.setattr(trying, "_read", lambda log, read=trying._read: reads.append(log.pk) or read(log))
    steps = sweeping.trace_of(log)
    answers = iter([None, steps])
    monkeypatch.setattr(sweeping.cache, "get", lambda key: next(answers))
    assert sweeping.trace_of(log) == steps
    assert len(reads) == 1


def test_while_another_is_read_it_says_to_try_again(client, people, session, url, monkeypatch):
    client.force_login(people.vera)
    monkeypatch.setattr(trying, "WAIT_SECONDS", 0.01)
    with trying.alone_with(session.current):
        page = client.get(url, {"session": session.pk})
    assert "data-again" in page.content.decode()
    assert client.get(url, {"session": session.pk}).context["drawing"]


def test_it_is_for_those_who_read_the_session_and_for_the_profiles_team(client, people, profile, session, url):
    for user, status in ((people.vera, 200), (people.bob, 200), (people.mallory, 404)):
        client.force_login(user)
        assert client.get(url, {"session": session.pk}).status_code == status, user
    client.force_login(people.vera)
    for unknown in ("x", "999999", "-1", "9" * 30):
        assert client.get(url, {"session": unknown}).status_code == 404, unknown
    assert client.post(url).status_code == 405
    theirs = Profile.unscoped.create(team=people.other_team, name="theirs")
    client.force_login(people.mallory)
    assert client.get(reverse("profile-what-if", args=[theirs.pk]), {"session": session.pk}).status_code == 404
    Team.objects.filter(pk=people.team.pk).update(content_visibility=Visibility.OWNER)
    for user, status in ((people.vera, 404), (people.bob, 404), (people.alice, 200)):
        client.force_login(user)
        assert client.get(url, {"session": session.pk}).status_code == status, user


def test_queries_do_not_grow_with_ratios_or_steps(client, people, session, url, django_assert_max_num_queries):
    client.force_login(people.vera)
    client.get(url, {"session": session.pk})
    with django_assert_max_num_queries(8):
        client.get(url, {"session": session.pk, "thresholdRatio": "0.3"})
