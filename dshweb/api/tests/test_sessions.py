"""Sessions by REST: who sees what, pages that join, originals that are written down, deletion."""

from __future__ import annotations

import pytest

from dshweb.access.models import AccessLog, Visibility
from dshweb.pages.tests.logs import SECRET, bring_in
from dshweb.sessionlog.models import Session
from dshweb.ui.tests.rows import make_session
from tests.api_rows import bearer

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(people, tmp_path, data_dir):
    return bring_in(people, tmp_path / "home", owner=people.bob)


def walk(client, url: str, headers: dict[str, str], limit: int) -> list[dict]:
    seen, cursor = [], ""
    for _ in range(50):
        body = client.get(url, {"limit": limit, "cursor": cursor}, headers=headers).json()
        seen += body["items"]
        cursor = body["next"]
        if not cursor:
            return seen
    raise AssertionError("the list does not end")


@pytest.mark.parametrize("part", ["", "/events", "/messages", "/compactions"])
def test_who_reads_a_session(client, people, session, part):
    url = f"/api/v1/sessions/{session.pk}{part}"
    for user, scopes, status in (
        (people.vera, ["read"], 200), (people.alice, ["read"], 200), (people.bob, ["ingest"], 403),
    ):  # fmt: skip
        assert client.get(url, headers=bearer(people.team, user, *scopes)).status_code == status
    assert client.get(url, headers=bearer(people.other_team, people.mallory)).status_code == 404
    assert client.get(url).status_code == 401
    people.team.content_visibility = Visibility.OWNER
    people.team.save()
    seen = client.get(url, headers=bearer(people.team, people.vera, "read"))
    assert seen.status_code == (200 if part in ("", "/compactions") else 404)
    assert "app.yaml" not in seen.content.decode()
    assert client.get(url, headers=bearer(people.team, people.bob, "read")).status_code == 200


def test_pages_join(client, people, session):
    token = bearer(people.team, people.vera, "read")
    for n in range(5):
        make_session(people.team, f"s{n}")
    for part, key, whole in (
        ("", "sessionId", 6), (f"/{session.pk}/events", "place", 12), (f"/{session.pk}/messages", "position", 8),
        (f"/{session.pk}/compactions", "id", 1),
    ):  # fmt: skip
        seen = [item[key] for item in walk(client, f"/api/v1/sessions{part}", token, 2)]
        assert len(seen) == len(set(seen)) == whole, part
        assert client.get(f"/api/v1/sessions{part}?cursor=zz~zz", headers=token).status_code == 400


def test_filters_are_those_of_the_page(client, people, session):
    token = bearer(people.team, people.vera, "read")
    make_session(people.team, "other", people.alice, model="m9")
    for query, found in (
        ("q=app.yaml", [session.session_id]), ("author=alice", ["other"]), ("author=nobody", []), ("model=m9", ["other"]),
        (f"session_id={session.session_id}", [session.session_id]), ("compacted=true", [session.session_id]),
        ("team=theirs", []),
    ):  # fmt: skip
        body = client.get(f"/api/v1/sessions?{query}", headers=token).json()
        assert [row["sessionId"] for row in body["items"]] == found, query
    assert client.get("/api/v1/sessions?sort=zzz", headers=token).status_code == 422


def test_events_start_at_a_seq_and_are_masked(client, people, session):
    token = bearer(people.team, people.vera, "read")
    body = client.get(f"/api/v1/sessions/{session.pk}/events?from_seq=5&limit=2", headers=token)
    assert [row["seq"] for row in body.json()["items"]] == [5, 6]
    assert body.json()["masked"] is True
    assert SECRET not in body.content.decode()


@pytest.mark.parametrize(
    ("who", "how", "status"),
    [
        ("bob", "token", 200), ("bob", "login", 200), ("alice", "login", 200), ("alice", "token", 403), ("vera", "login", 403),
        ("mallory", "login", 404),
    ],
)  # fmt: skip
def test_who_reads_originals(client, people, session, who, how, status):
    user, headers = getattr(people, who), {}
    if how == "token":
        headers = bearer(people.team, user, "read")
    else:
        client.force_login(user)
    answer = client.get(f"/api/v1/sessions/{session.pk}/events?from_seq=6&original=true", headers=headers)
    assert answer.status_code == status
    noted = AccessLog.unscoped.filter(action="read-original")
    assert noted.count() == (status == 200)
    assert (SECRET in answer.content.decode()) is (status == 200)
    if status == 200:
        assert "no-store" in answer.headers["Cache-Control"]
        assert noted.get().user == user
        assert (noted.get().token is not None) is (how == "token")


@pytest.mark.parametrize(
    ("who", "scopes", "status"),
    [("bob", ["ingest"], 200), ("bob", ["read"], 403), ("alice", [], 403), ("vera", [], 403), ("mallory", [], 404)],
)
def test_who_deletes_by_token(client, people, session, who, scopes, status):
    team = people.other_team if who == "mallory" else people.team
    token = bearer(team, getattr(people, who), *scopes)
    url = f"/api/v1/sessions/{session.pk}"
    dry = client.delete(f"{url}?dry_run=true", headers=token)
    assert dry.status_code == status
    assert Session.unscoped.filter(pk=session.pk).exists()
    done = client.delete(url, headers=token)
    assert done.status_code == status
    assert Session.unscoped.filter(pk=session.pk).exists() is (status != 200)
    if status == 200:
        assert dry.json() | {"deleted": True} == done.json()
        assert done.json()["messages"] == 8


def test_the_damage_report_and_the_logs_are_told(client, people, session):
    body = client.get(f"/api/v1/sessions/{session.pk}", headers=bearer(people.team, people.bob)).json()
    (log,) = body["logs"]
    assert log["current"]
    assert log["openedByDsh"]
    assert log["accounting"]["events"] == 12
    assert log["damage"] == []
    assert log["places"][0].endswith("session.v4.jsonl.zstd")
    seen = client.get(f"/api/v1/sessions/{session.pk}", headers=bearer(people.team, people.vera)).json()
    assert seen["logs"][0]["places"] is None


def test_lists_ask_the_same_number_of_questions_whatever_their_length(
    client, people, session, django_assert_max_num_queries
):
    token = bearer(people.team, people.vera, "read")
    for n in range(40):
        make_session(people.team, f"s{n}", people.alice)
    for part, most in (
        ("", 4),
        (f"/{session.pk}/messages", 5),
        (f"/{session.pk}/events", 7),
        (f"/{session.pk}/compactions", 10),
    ):
        with django_assert_max_num_queries(most):
            assert client.get(f"/api/v1/sessions{part}", headers=token).status_code == 200
