"""What can be done on pages: switches, audits, scans, tasks; each with every role."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from dshweb.sessionlog.models import Source
from dshweb.tasks.models import State, Task
from dshweb.ui.tests.rows import (
    make_audited,
    make_task,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def targets(people):
    row = make_audited(people.team)
    source = Source.unscoped.create(team=people.team, path="/srv/logs")
    waiting, failed = make_task(people.team), make_task(people.team, state=State.FAILED, error="x", key="again")
    return {
        "audit": f"/compactions/{row.pk}/audit",
        "scan": f"/sources/{source.pk}/scan",
        "cancel": f"/tasks/{waiting.pk}/cancel",
        "retry": f"/tasks/{failed.pk}/retry",
    }


@pytest.mark.parametrize(("who", "status"), [("alice", 302), ("bob", 302), ("vera", 403), ("mallory", 404)])
def test_members_act_viewers_do_not_and_strangers_find_nothing(client, people, targets, who, status):
    client.force_login(getattr(people, who))
    before = Task.unscoped.count()
    for name, url in targets.items():
        assert client.get(url).status_code == 405, name
        assert client.post(url).status_code == status, name
    if status != 302:
        assert Task.unscoped.count() == before
        assert not Task.unscoped.filter(state=State.CANCELLED).exists()


def test_asking_for_an_audit_and_a_scan_makes_a_task_each(client, people, targets):
    client.force_login(people.bob)
    client.post(targets["audit"])
    client.post(targets["scan"])
    made = Task.unscoped.order_by("-id")[:2]
    assert [(task.kind, task.created_by) for task in made] == [("ingest", people.bob), ("audit", people.bob)]
    assert made[0].payload["path"] == "/srv/logs"


def test_a_task_is_cancelled_and_a_failed_one_done_again(client, people, targets):
    client.force_login(people.bob)
    client.post(targets["cancel"])
    assert Task.unscoped.filter(state=State.CANCELLED).count() == 1
    answer = client.post(targets["retry"])
    fresh = Task.unscoped.latest("id")
    assert answer.url == f"/tasks/{fresh.pk}/"
    assert fresh.state == State.QUEUED
    assert fresh.key == "again"


def test_viewers_are_not_offered_what_they_may_not_do(client, people, targets):
    client.force_login(people.vera)
    html = "".join(
        client.get(url).content.decode() for url in ("/tasks/", "/sources/", targets["audit"].removesuffix("audit"))
    )
    assert "/cancel" not in html
    assert "/scan" not in html
    assert "/audit" not in html


def test_progress_tells_share_rate_and_time_left(client, people):
    task = make_task(
        people.team,
        state=State.RUNNING,
        done=25,
        total=100,
        unit="logs",
        rate=0.5,
        sampled_at=timezone.now(),
        started_at=timezone.now() - timedelta(seconds=50),
    )
    client.force_login(people.vera)
    html = client.get(f"/tasks/{task.pk}/").content.decode()
    for words in ("25 / 100 logs", "25\N{NARROW NO-BREAK SPACE}%", "0.5 a second", "2 min"):
        assert words in html, words


def test_progress_without_a_total_claims_nothing(client, people):
    task = make_task(people.team, state=State.RUNNING, done=7, unit="logs", started_at=timezone.now())
    client.force_login(people.vera)
    html = client.get(f"/tasks/{task.pk}/?part").content.decode()
    assert "7 logs" in html
    assert "%" not in html
    assert re.search('Time left <span[^>]*aria-label="unknown"', html)


@pytest.mark.parametrize("one", [False, True])
def test_the_changing_part_is_304_until_something_changes(client, people, one):
    task = make_task(people.team, state=State.RUNNING, done=1, total=9)
    url = f"/tasks/{task.pk}/?part" if one else "/tasks/?part"
    client.force_login(people.bob)
    first = client.get(url)
    assert b"<html" not in first.content
    tag = {"if-none-match": first["ETag"]}
    assert client.get(url, headers=tag).status_code == 304
    Task.unscoped.filter(pk=task.pk).update(done=2)
    assert client.get(url, headers=tag).status_code == 200
    assert client.get(url, headers=tag | {"accept-language": "zh-hans"}).status_code == 200


def test_language_is_switched_by_a_form_and_follows_the_person(client, people):
    client.force_login(people.bob)
    answer = client.post("/preferences/language", {"language": "zh-hans", "next": "/sessions/"})
    assert answer.url == "/sessions/"
    assert 'lang="zh-Hans"' in client.get("/sessions/").content.decode()
    client.cookies.clear()
    client.force_login(people.bob)
    assert "还没有会话" in client.get("/sessions/", headers={"accept-language": "en"}).content.decode()


def test_theme_is_switched_by_a_form_and_follows_the_person(client, people):
    client.force_login(people.bob)
    assert "data-theme" not in client.get("/sessions/").content.decode()
    client.post("/preferences/theme", {"theme": "dark", "next": "/sessions/"})
    assert 'data-theme="dark"' in client.get("/sessions/").content.decode()
    client.cookies.clear()
    client.force_login(people.bob)
    assert 'data-theme="dark"' in client.get("/sessions/").content.decode()
    client.post("/preferences/theme", {"theme": "system"})
    assert "data-theme" not in client.get("/sessions/").content.decode()


@pytest.mark.parametrize("back", ["https://evil.example/", "//evil.example/x", "javascript:alert(1)", ""])
def test_a_switch_never_leads_to_another_site(client, db, back):
    assert client.post("/preferences/theme", {"theme": "dark", "next": back}).url == "/"


def test_a_switch_refuses_what_it_does_not_know(client, db):
    assert client.post("/preferences/language", {"language": "tlh"}).status_code == 400
    assert client.post("/preferences/theme", {"theme": "neon"}).status_code == 400
    assert client.get("/preferences/theme").status_code == 405
