"""Real processes: two importers of one log, a killed importer, a killed worker. The result is that of an undisturbed run."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.builders import assistant, compaction, frame, header, human, write

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.slow


def long_session(*, talk: int = 4500, every: int = 1500) -> list[bytes]:
    """A log that takes several import steps, with compactions in it."""
    frames, seq, shadow, filler = (
        [frame(header())],
        0,
        [],
        "plain words that hold no fact at all, only many of them, " * 120,
    )
    for n in range(talk):
        row = human(seq, "go on") if n % 2 else assistant(seq, f"see /srv/app/file.py {filler}")
        frames.append(frame(row))
        shadow.append(seq)
        seq += 1
        if n % every == every - 1:
            frames.append(frame(*compaction(seq, shadow, f"Summary at {n}: /srv/app/file.py took 13 ms", key=f"c{n}")))
            shadow = [seq + 2]
            seq += 4
    return frames


class Home:
    """A data folder with the command line to it."""

    def __init__(self, folder: Path, **env: str) -> None:
        self.folder = folder
        self.env = {**os.environ, "DSHWEB_DATA_DIR": str(folder), "LOG_LEVEL": "ERROR", **env}
        self.manage("migrate", "-v0").check_returncode()

    def start(self, *args: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "manage.py", *args], cwd=ROOT, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def manage(self, *args: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "manage.py", *args], cwd=ROOT, env=self.env, capture_output=True, timeout=180, check=False
        )

    def rows(self, query: str) -> list[tuple]:
        with sqlite3.connect(f"file:{self.folder}/db.sqlite3?mode=ro", uri=True, timeout=30) as database:
            return database.execute(query).fetchall()

    def wait(self, query: str, wanted, *, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if wanted(self.rows(query)):
                return
            time.sleep(0.02)
        raise AssertionError(f"not within {seconds} s: {query} is {self.rows(query)}")

    def picture(self) -> dict[str, list[tuple]]:
        return {
            "logs": self.rows("select status, size, complete, last_seq, accounting, damage from sessionlog_logfile"),
            "sessions": self.rows("select session_id, title, turns, events, compactions from sessionlog_session"),
            "messages": self.rows(
                "select position, seq, author, chars, digest, text from sessionlog_message order by position"
            ),
            "compactions": self.rows(
                "select compaction_id, outcome, round, summary_seq from sessionlog_compaction order by position"
            ),
            "frames": self.rows('select "offset", length, first_seq, last_seq from sessionlog_frame order by "offset"'),
            "audits": self.rows(
                "select record from audit_audit a join sessionlog_compaction c on c.id = a.compaction_id order by position"
            ),
            "found": self.rows("select count(*) from sessionlog_search"),
        }


@pytest.fixture(scope="module")
def log(tmp_path_factory) -> Path:
    return write(tmp_path_factory.mktemp("dsh"), long_session())


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, log) -> dict[str, list[tuple]]:
    home = Home(tmp_path_factory.mktemp("undisturbed"))
    home.manage("ingest", str(log)).check_returncode()
    picture = home.picture()
    assert len(picture["compactions"]) == len(picture["audits"]) == 3
    return picture


def test_two_processes_at_once_make_one_session_without_error(tmp_path, log, undisturbed):
    home = Home(tmp_path / "data")
    both = [home.start("ingest", "--json", str(log)) for _ in range(2)]
    for process in both:
        out, err = process.communicate(timeout=180)
        assert process.returncode == 0, err.decode()
        assert b'"status": "ok"' in out
        assert err == b""
    assert home.picture() == undisturbed


def test_a_killed_import_goes_on_where_it_stood(tmp_path, log, undisturbed):
    home = Home(tmp_path / "data")
    for _ in range(2):
        process = home.start("ingest", str(log))
        before = (home.rows("select coalesce(max(revision), 0) from sessionlog_logfile") or [(0,)])[0][0]
        home.wait(
            "select coalesce(max(revision), 0) from sessionlog_logfile", lambda rows, before=before: rows[0][0] > before
        )
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert home.rows("select complete from sessionlog_logfile") == [(0,)]
    home.manage("ingest", str(log)).check_returncode()
    assert home.picture() == undisturbed


def enqueue_ingest(home: Home, log: Path) -> None:
    code = (
        "from dshweb.access.models import Team; from dshweb.tasks.services import enqueue;"
        f"enqueue(Team.objects.get(slug='main'), 'ingest', 'test', {{'path': {str(log)!r}, 'owner': None}})"
    )
    home.manage("shell", "-c", code).check_returncode()


def check_a_killed_worker(home: Home, log: Path, undisturbed) -> None:
    enqueue_ingest(home, log)
    worker = home.start("worker")
    home.wait("select coalesce(max(revision), 0) from sessionlog_logfile", lambda rows: rows[0][0] > 0)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    assert home.rows("select count(*) from audit_audit") == [(0,)]
    worker = home.start("worker")
    try:
        home.wait("select count(*) from audit_audit", lambda rows: rows == [(3,)], seconds=120)
        home.wait("select count(*) from tasks_task where state in ('queued', 'running')", lambda rows: rows == [(0,)])
    finally:
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(timeout=30) == 0
    assert home.picture() == undisturbed


def test_a_killed_worker_loses_nothing(tmp_path, log, undisturbed):
    check_a_killed_worker(Home(tmp_path / "data", TASK_LEASE_SECONDS="5"), log, undisturbed)


def test_a_killed_worker_loses_nothing_with_redis(tmp_path, log, undisturbed, redis_url):
    check_a_killed_worker(Home(tmp_path / "data", TASK_LEASE_SECONDS="5", REDIS_URL=redis_url), log, undisturbed)
