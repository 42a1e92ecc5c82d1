"""Killed at any moment, out of disk, without rights: what was begun is finished by the next run, and the trouble is one line.

A kill is `SIGKILL` to a real process at random moments of a seeded sequence, and, for every single statement of an
import, an exception that nothing catches: the open transaction is rolled back and what is on disk stays, as after a kill.
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import connection

from dshweb.sessionlog.models import Session, SourceFile
from dshweb.sessionlog.services import steps, store
from dshweb.sessionlog.services.ingest import Import, ingest_file
from tests.builders import frame, header, human, session_frames, write
from tests.picture import picture
from tests.processes import ROOT, environment, manage, rows, started, until

CORPUS = Path(__file__).parent / "data" / "corpus"
SEED = 20_261_130
AUDITS = 120


class Killed(BaseException):
    """Nothing catches it: the process is gone."""


class Death:
    """Wraps every statement; dies before the `nth` one. `seen` counts them."""

    def __init__(self, nth: int = 0) -> None:
        self.nth, self.seen = nth, 0

    def __call__(self, execute, sql, params, many, context):
        self.seen += 1
        if self.seen == self.nth:
            raise Killed
        return execute(sql, params, many, context)


@pytest.fixture
def bring_in(people, data_dir, monkeypatch):
    monkeypatch.setattr(steps, "STEP_BYTES", 1000)  # several steps
    run = Import.by(people.team, people.bob, inline=True)

    def act(path: Path, death: Death | None = None):
        place = SourceFile.unscoped.select_related("log").filter(location=str(path)).first()
        with connection.execute_wrapper(death or Death()):
            return ingest_file(path, run=run, place=place)

    return act


def test_killed_before_any_statement_an_import_is_finished_by_the_next(bring_in, tmp_path):
    path = write(tmp_path, session_frames(rounds=2))
    counted = Death()
    wanted_report = bring_in(path, counted).to_json()
    wanted = picture()
    assert len(wanted["audits"]) == 2
    Session.unscoped.all().delete()
    SourceFile.unscoped.all().delete()
    for nth in range(1, counted.seen + 1):
        with pytest.raises(Killed):
            bring_in(path, Death(nth))
        tear_stored_tail()
        report = bring_in(path).to_json()
        assert report | {"changed": True} == wanted_report, nth
        assert picture() == wanted, nth
        assert not bring_in(path).changed
        Session.unscoped.all().delete()
        SourceFile.unscoped.all().delete()


def tear_stored_tail() -> None:
    """A machine that stops may lose the end of what was written but not yet committed."""
    for place in SourceFile.unscoped.select_related("log").exclude(log=None):
        if store.size(place.log.stored) > place.log.size:
            path = store._storage().path(place.log.stored)
            os.truncate(path, place.log.size + (store.size(place.log.stored) - place.log.size) // 2)


# ---- real processes


def picture_of(env: dict[str, str]) -> dict:
    run = subprocess.run(
        [sys.executable, "-m", "tests.picture"], cwd=ROOT, env=env, capture_output=True, text=True, timeout=90
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def home(folder: Path, **more: str) -> dict[str, str]:
    env = environment(folder, LOG_LEVEL="ERROR", TASK_LEASE_SECONDS="5", **more)
    run = manage(["migrate", "-v0"], env)
    assert run.returncode == 0, run.stderr
    return env


@pytest.fixture(scope="module")
def logs(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("dsh")
    for n in range(12):
        name = f"session-00000000-0000-4000-8000-{n:012d}"
        write(folder, [frame(header(name)), *session_frames(rounds=10)[1:]], name)
    return folder


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, logs) -> dict:
    """The picture of a run that nobody killed."""
    env = home(tmp_path_factory.mktemp("undisturbed"))
    run = manage(["ingest", str(logs)], env)
    assert (run.returncode, run.stderr) == (0, "")
    seen = picture_of(env)
    assert len(seen["audits"]) == AUDITS
    return seen


def count(env: dict[str, str], table: str) -> int:
    return rows(Path(env["DSHWEB_DATA_DIR"]), f"SELECT count(*) FROM {table}")[0][0]


def kill_when(
    env: dict[str, str], arguments: list[str], table: str, least: int, moments: random.Random, log: Path
) -> None:
    """Starts a process and kills it a moment after `table` has `least` rows, so always in the middle of its work."""
    with started(arguments, env, log) as process:
        until(lambda: count(env, table) >= least, f"{least} rows in {table}", process, log)
        time.sleep(moments.uniform(0, 0.05))
        assert process.poll() is None, "it ended before it could be killed"
        process.send_signal(signal.SIGKILL)
        process.wait()


@pytest.mark.slow
def test_an_import_killed_again_and_again_ends_as_an_undisturbed_one(undisturbed, logs, tmp_path):
    env, moments = home(tmp_path / "data"), random.Random(SEED)
    for least in sorted(moments.sample(range(1, AUDITS - 30), 4)):
        kill_when(env, ["ingest", str(logs)], "audit_audit", least, moments, tmp_path / "log")
        assert count(env, "audit_audit") < AUDITS
    run = manage(["ingest", "--json", str(logs)], env)
    assert (run.returncode, run.stderr) == (0, "")
    assert picture_of(env) == undisturbed
    assert "Traceback" not in (tmp_path / "log").read_text()


@pytest.mark.slow
def test_a_worker_killed_again_and_again_does_all_of_it_in_the_end(undisturbed, logs, tmp_path):
    env, moments = home(tmp_path / "data"), random.Random(SEED)
    code = (
        "from dshweb.access.models import Team; from dshweb.tasks.services import enqueue;"
        f"enqueue(Team.objects.get(slug='main'), 'ingest', 'test', {{'path': {str(logs)!r}, 'owner': None}})"
    )
    assert manage(["shell", "-v0", "-c", code], env).returncode == 0
    log = tmp_path / "log"
    # while it imports and while it audits; no task is tried a sixth time
    for table, least in (("sessionlog_logfile", 3), ("sessionlog_logfile", 8), ("audit_audit", 30)):
        kill_when(env, ["worker"], table, least, moments, log)
        assert count(env, "audit_audit") < AUDITS
    with started(["worker"], env, log) as process:
        until(lambda: _open_tasks(env) == 0, "all is done", process, log)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    assert picture_of(env) == undisturbed


def _open_tasks(env: dict[str, str]) -> int:
    run = subprocess.run(
        [sys.executable, "-m", "tests.ask", "show"], cwd=ROOT, env=env, capture_output=True, text=True, timeout=60
    )
    return sum(row["state"] in ("queued", "running") for row in json.loads(run.stdout)["tasks"])


# ---- a machine that does not let us write


def bounded(limit: int) -> Callable[[], None]:
    """No file of the process may grow beyond `limit` bytes: the nearest to a full disk that needs no rights."""

    def act() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return act


def without_override() -> None:
    """Makes permission bits count for root too: CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH are dropped."""
    if os.getuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in (1, 2):
            if libc.prctl(24, capability, 0, 0, 0):
                raise OSError(ctypes.get_errno(), "prctl")


def manage_when(act: Callable[[], None], arguments: list[str], env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments], cwd=ROOT, env=env, capture_output=True, text=True, timeout=90,
        preexec_fn=act,
    )  # fmt: skip


@pytest.mark.slow
def test_a_log_store_that_is_full_fails_the_log_with_its_reason_and_the_next_run_has_it(tmp_path):
    env = home(tmp_path / "data")
    big = write(tmp_path, [os.urandom(1 << 20).hex().encode()])
    big.write_bytes(frame(header()) + frame(human(0, os.urandom(3 << 20).hex())))
    small = write(tmp_path, session_frames(rounds=1), "session-00000000-0000-4000-8000-0000000000bb")
    small.write_bytes(frame(header("session-00000000-0000-4000-8000-0000000000bb")) + frame(human(0, "small")))
    run = manage_when(bounded(2 << 20), ["ingest", str(tmp_path / "sessions")], env)
    assert "Traceback" not in run.stderr + run.stdout
    assert f"{big} could not be imported: OSError: [Errno 27] File too large" in run.stderr
    assert "2 logs (1 ok, 1 failed" in run.stdout
    run = manage(["ingest", str(tmp_path / "sessions")], env)
    assert "2 logs (2 ok; 1 changed)" in run.stdout
    assert run.stderr == ""


@pytest.mark.slow
def test_a_full_database_is_said_in_one_line_and_the_next_run_goes_on(undisturbed, logs, tmp_path):
    env = home(tmp_path / "data")
    most = (tmp_path / "data" / "db.sqlite3").stat().st_size + 40_000
    run = manage_when(bounded(most), ["ingest", str(logs)], env)
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1].startswith("manage.py: the database cannot be used: ")
    assert "Traceback" not in run.stderr
    run = manage(["ingest", str(logs)], env)
    assert (run.returncode, run.stderr) == (0, "")
    assert picture_of(env) == undisturbed


@pytest.mark.slow
@pytest.mark.parametrize("command", [["ingest", str(CORPUS / "plain-chat-en")], ["audit"], ["migrate"], ["serve"]])
def test_a_data_folder_that_cannot_be_written_is_said_in_one_line(tmp_path, command):
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(0o555)
    run = manage_when(without_override, command, environment(folder / "data"))
    assert run.returncode == 1
    assert len(run.stderr.splitlines()) == 1, run.stderr
    assert str(folder) in run.stderr


@pytest.mark.slow
def test_a_data_folder_that_became_read_only_is_said_without_a_traceback(tmp_path):
    env = home(tmp_path / "data")
    for path in [*(tmp_path / "data").rglob("*"), tmp_path / "data"]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        run = manage_when(without_override, ["ingest", str(CORPUS / "plain-chat-en")], env)
    finally:
        (tmp_path / "data").chmod(0o755)
    assert run.returncode == 1
    assert "Traceback" not in run.stderr
    assert "readonly database" in run.stderr.splitlines()[-1] or "unable to open" in run.stderr.splitlines()[-1]
