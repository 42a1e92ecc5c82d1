"""Several logs at a time: the same rows, the same words in the same order, whatever becomes of the helpers."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dshweb.sessionlog.services import crew
from dshweb.sessionlog.services.report import LogReport
from tests.builders import assistant, frame, header, human, session_frames, write
from tests.processes import ROOT, environment, manage, started, until
from tests.test_kills import count, home, picture_of

LOGS = 6
HEAVY = ("rich", "celery", "ninja", "audit.core.facts", "dshweb.access.admin")


def reports(do, processes=2, on_progress=lambda *_: None) -> list[str]:
    return [report.path for report in crew.in_order(7, do, processes=processes, on_progress=on_progress)]


def report(n: int) -> LogReport:
    return LogReport(path=str(n), status="ok")


def test_reports_come_in_order_and_from_other_processes():
    parent, seen = os.getpid(), []

    def do(n, progress):
        progress(os.getpid(), n)
        return report(n)

    assert reports(do, on_progress=lambda *said: seen.append(said)) == list("0123456")
    assert seen
    assert all(pid != parent and n == due for due, pid, n in seen)


@pytest.mark.parametrize("lost", [{3}, {0, 1}, set(range(7))])
def test_what_lost_helpers_were_at_is_done_by_the_parent(lost):
    parent = os.getpid()

    def do(n, progress):
        if n in lost and os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        return report(n)

    assert reports(do) == list("0123456")


def test_no_helper_is_left_when_the_parent_stops_listening():
    pids = []

    def do(n, progress):
        progress(os.getpid(), n)
        return report(n)

    run = crew.in_order(7, do, processes=2, on_progress=lambda _due, pid, _n: pids.append(pid))
    next(run)
    run.close()
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


# ---- real imports


@pytest.fixture(scope="module")
def logs(tmp_path_factory) -> Path:
    """Enough bytes to be worth helpers, of a text that does not compress; one log damaged, two with compactions."""
    folder, rng = tmp_path_factory.mktemp("dsh"), random.Random(20_261_130)
    for n in range(LOGS):
        name = f"session-00000000-0000-4000-8000-{n:012d}"
        if n % 3 == 2:
            frames = [frame(header(name)), *session_frames(rounds=2)[1:]]
        else:
            turns = [frame(human(2 * k, f"{k}?"), assistant(2 * k + 1, rng.randbytes(20_000).hex())) for k in range(45)]
            frames = [frame(header(name)), *turns]
        if n == 3:
            frames[5] = frames[5][:-1] + bytes([frames[5][-1] ^ 255])
        write(folder, frames, name)
    return folder


@pytest.fixture(scope="module")
def alone(tmp_path_factory, logs) -> tuple[str, dict]:
    """What an import without helpers says and leaves: it is bound to one processor."""
    env = home(tmp_path_factory.mktemp("alone"))
    run = subprocess.run(
        ["taskset", "-c", str(min(os.sched_getaffinity(0))), sys.executable, "manage.py", "ingest", "--json", str(logs)],
        cwd=ROOT, env=env, capture_output=True, text=True, timeout=90,
    )  # fmt: skip
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout, picture_of(env)


two_processors = pytest.mark.skipif(crew.helpers() < 2, reason="needs two processors")


@two_processors
def test_an_import_with_helpers_says_and_leaves_the_same(logs, alone, tmp_path):
    env = home(tmp_path)
    run = manage(["ingest", "--json", str(logs)], env)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == alone[0]
    assert picture_of(env) == alone[1]
    summary = json.loads(run.stdout.splitlines()[-1])["summary"]
    assert (summary["logs"], summary["status"]["damaged"]) == (LOGS, 1)
    again = manage(["ingest", "--json", str(logs)], env)
    assert json.loads(again.stdout.splitlines()[-1])["summary"]["changed"] == 0


@two_processors
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGKILL])
def test_stopped_in_the_middle_the_next_run_finishes(stop, logs, alone, tmp_path):
    env = next(filter(None, (_stopped(stop, logs, tmp_path / str(tried)) for tried in range(6))), None)
    assert env, "the import always ended before it was stopped"
    run = manage(["ingest", "--json", str(logs)], env)
    assert (run.returncode, run.stderr) == (0, "")
    assert picture_of(env) == alone[1]


def _stopped(stop: signal.Signals, logs: Path, folder: Path) -> dict[str, str] | None:
    """The environment of an import that was stopped after its first step; None when it was quicker than the signal."""
    folder.mkdir()
    env, log = home(folder / "data"), folder / "log"
    with started(["ingest", str(logs)], env, log) as process:
        until(lambda: count(env, "sessionlog_frame"), "a first step", process, log)
        os.killpg(process.pid, stop) if stop == signal.SIGINT else process.send_signal(stop)
        code = process.wait(30)
        until(lambda: not _group(process.pid), "its helpers end")
    assert "Traceback" not in log.read_text()
    if code == 0:
        return None
    assert code == (130 if stop == signal.SIGINT else -stop)
    return env


def _group(leader: int) -> bool:
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return False
    return True


def test_an_import_of_nothing_loads_no_page_no_audit_and_no_queue(tmp_path):
    env = environment(tmp_path / "data")
    assert manage(["migrate", "-v0"], env).returncode == 0
    code = (
        "import sys; from django.core.management import execute_from_command_line as go;"
        f"go(['manage.py', 'ingest', '--json', {str(tmp_path)!r}]);"
        f"print([name for name in sys.modules if name.startswith({HEAVY})])"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1] == "[]"
