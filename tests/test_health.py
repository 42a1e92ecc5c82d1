"""`/healthz` and `/readyz`: open to everyone, true, and without secrets or paths."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import InterfaceError, OperationalError
from django.utils import timezone

from dshweb import health
from dshweb.tasks import leases, services
from dshweb.tasks.models import Task, Worker


@pytest.fixture
def alive(db) -> Worker:
    now = timezone.now()
    return Worker.objects.create(name="host/1/run", started_at=now, seen_at=now)


def test_healthz_asks_nothing_of_the_database(client):
    """No database mark: a query here would raise."""
    answer = client.get("/healthz")
    assert (answer.status_code, answer.content) == (200, b"ok\n")


def test_ready_when_everything_is_there(client, alive):
    answer = client.get("/readyz")
    assert answer.status_code == 200
    body = answer.json()
    assert body["ok"] is True
    assert set(body["checks"]) == {"database", "schema", "worker", "queue", "disk"}
    assert all(check["ok"] for check in body["checks"].values())
    assert Worker.objects.count() == 1


def test_not_ready_without_a_worker(client, db):
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"]["worker"] == {"ok": False, "detail": "no worker has been seen"}


def test_not_ready_when_the_worker_fell_silent(client, alive):
    Worker.objects.update(seen_at=timezone.now() - timedelta(minutes=5))
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"]["worker"]["detail"] == "last seen 300 s ago"


def test_not_ready_when_tasks_wait_too_long(client, alive, team):
    task = Task.unscoped.create(team=team, kind="k", key="1")
    assert client.get("/readyz").status_code == 200
    Task.unscoped.filter(pk=task.pk).update(queued_at=timezone.now() - timedelta(hours=1))
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"]["queue"]["ok"] is False


def test_not_ready_when_the_disk_is_full_or_a_migration_is_missing(client, alive, monkeypatch):
    monkeypatch.setattr(health, "DISK_FREE_BYTES", 1 << 62)
    monkeypatch.setattr(health, "_tables_seen", False)
    monkeypatch.setattr("dshweb.schema.pending", lambda: ["access.9999_next"])
    checks = client.get("/readyz").json()["checks"]
    assert checks["disk"]["ok"] is False
    assert checks["schema"] == {"ok": False, "detail": "1 migrations to apply"}


def test_an_error_is_told_by_its_kind_only(client, alive, monkeypatch):
    def refuse() -> None:
        raise OperationalError("could not open /home/secret/db as postgresql://user:password@host")

    monkeypatch.setitem(health.CHECKS, "database", refuse)
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"]["database"] == {"ok": False, "detail": "OperationalError"}
    assert "secret" not in answer.content.decode()
    assert "password" not in answer.content.decode()


def test_a_connection_that_was_closed_is_an_answer_too(client, alive, monkeypatch):
    def closed() -> None:
        raise InterfaceError("connection already closed")

    monkeypatch.setitem(health.CHECKS, "queue", closed)
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"]["queue"] == {"ok": False, "detail": "InterfaceError"}


def test_waiting_is_counted_from_when_a_task_was_queued_last(client, alive, team):
    """An import that ran for an hour and went back to the queue has not waited for an hour."""
    task = Task.unscoped.create(team=team, kind="k", key="1")
    Task.unscoped.filter(pk=task.pk).update(queued_at=timezone.now() - timedelta(hours=1))
    lease = leases.take(task.pk)
    services._give_back(Task.unscoped.get(pk=task.pk), lease)
    assert client.get("/readyz").json()["checks"]["queue"]["ok"] is True
