"""A real worker process: waits for the schema, does what is asked, survives being killed. With files and with Redis
as queue."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import ROOT, environment, manage, started, until

pytestmark = pytest.mark.slow


@pytest.fixture(params=["files", "redis"])
def env(request, tmp_path: Path) -> dict[str, str]:
    more = {"REDIS_URL": request.getfixturevalue("redis_url")} if request.param == "redis" else {}
    return environment(tmp_path / "data", **more)


def ask(env: dict[str, str], *arguments: str) -> str:
    run = subprocess.run(
        [sys.executable, "-m", "tests.ask", *arguments], cwd=ROOT, env=env, capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def tasks(env: dict[str, str]) -> list[dict]:
    return json.loads(ask(env, "show"))["tasks"]


def migrate(env: dict[str, str]) -> None:
    run = manage(["migrate", "--verbosity=0", "--skip-checks"], env)
    assert run.returncode == 0, run.stderr


def test_started_first_it_waits_for_the_schema(tmp_path):
    """Field report FR-103: background jobs began before the tables were there."""
    env, log = environment(tmp_path / "data"), tmp_path / "log"
    with started(["worker"], env, log) as worker:
        until(lambda: "waiting: " in log.read_text(), "it says what it waits for", worker, log)
        migrate(env)
        until(lambda: "is ready" in log.read_text(), "it gets ready", worker, log)
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(30) == 0
    assert "Traceback" not in log.read_text()


def test_it_does_what_is_asked_once_however_often_the_message_comes(env, tmp_path):
    log, mark = tmp_path / "log", tmp_path / "mark"
    migrate(env)
    ask(env, "enqueue", "mark", "before", str(mark), "3")
    with started(["worker"], env, log) as worker:
        ask(env, "enqueue", "mark", "after", str(mark), "3")
        until(lambda: [row["state"] for row in tasks(env)] == ["done", "done"], "both are done", worker, log)
        assert json.loads(ask(env, "show"))["workers"] == 1
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(30) == 0
    assert mark.read_text() == "ran\nran\n"
    assert [row["attempts"] for row in tasks(env)] == [1, 1]
    assert json.loads(ask(env, "show"))["workers"] == 0


def test_the_task_of_a_killed_worker_is_done_by_the_next_one(env, tmp_path):
    """SIGKILL loses the message; the row is found again, without waiting for its lease."""
    log, mark = tmp_path / "log", tmp_path / "mark"
    migrate(env)
    ask(env, "enqueue", "slow-once", "k", str(mark))
    with started(["worker"], env, log) as first:
        until(mark.exists, "the task has begun", first, log)
        first.kill()
        first.wait()
    assert tasks(env)[0]["state"] == "running"
    with started(["worker"], env, log) as second:
        until(lambda: tasks(env)[0]["state"] == "done", "the next worker did it", second, log)
    row = tasks(env)[0]
    assert (row["attempts"], row["result"]) == (2, {"second": True})


def test_told_to_end_it_gives_its_task_back(tmp_path):
    env, log, mark = environment(tmp_path / "data"), tmp_path / "log", tmp_path / "mark"
    migrate(env)
    ask(env, "enqueue", "slow-once", "k", str(mark))
    with started(["worker"], env, log) as worker:
        until(mark.exists, "the task has begun", worker, log)
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(30) == 0, log.read_text()
    row = tasks(env)[0]
    assert (row["state"], row["attempts"], row["error"]) == ("queued", 0, "")


def test_a_lost_message_is_found_by_an_idle_worker(tmp_path):
    env, log, mark = environment(tmp_path / "data"), tmp_path / "log", tmp_path / "mark"
    migrate(env)
    with started(["worker"], env, log) as worker:
        until(lambda: "is ready" in log.read_text(), "it gets ready", worker, log)
        elsewhere = env | {"REDIS_URL": "redis://127.0.0.1:1/0"}  # nobody listens there
        ask(elsewhere, "enqueue", "mark", "k", str(mark))
        until(lambda: tasks(env)[0]["state"] == "done", "it was found", worker, log)
