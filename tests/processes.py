"""Starts the product's real processes for tests and stops exactly those."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 90


def environment(data: Path, **more: str) -> dict[str, str]:
    """The environment of a machine where nothing of the product is set but its data folder."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    return (
        kept
        | {"DSHWEB_DATA_DIR": str(data), "DJANGO_SETTINGS_MODULE": "tests.worker_settings", "WEB_WORKERS": "1"}
        | more
    )


def hearing() -> None:
    """For `preexec_fn`: a suite run under nohup or in a shell's background hands on signals that are ignored, which the product
    would rightly go on ignoring.
    """
    for number in (signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


@contextmanager
def started(arguments: list[str], env: dict[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """`manage.py <arguments>` in a process group of its own, its output in `log`; whatever is left is killed at the
    end."""
    with log.open("ab") as stream:
        process = subprocess.Popen(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=hearing,
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(40)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def kill_all(pid: int) -> None:
    """SIGKILL to a process and everything it started, at once."""
    parents: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError):
            parents.setdefault(int(path.read_text().rsplit(")", 1)[1].split()[1]), []).append(int(path.parent.name))
    doomed, found = [pid], [pid]
    while found:
        found = [child for parent in found for child in parents.get(parent, [])]
        doomed += found
    for one in doomed:
        with suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)


def manage(arguments: list[str], env: dict[str, str], patience: float = PATIENCE) -> subprocess.CompletedProcess[str]:
    """`manage.py <arguments>` to its end, which must come within `patience` seconds."""
    return subprocess.run(
        [sys.executable, "manage.py", *arguments], cwd=ROOT, env=env, capture_output=True, text=True, timeout=patience
    )


def until(
    holds: Callable[[], object], what: str, process: subprocess.Popen[bytes] | None = None, log: Path | None = None
):
    """Wait until `holds()` is true and return it; fail with the log when it never is or when `process` has ended."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        answer = holds()
        if answer:
            return answer
        if process is not None and process.poll() is not None:
            break
        time.sleep(0.05)
    raise AssertionError(f"{what}: never happened\n{log.read_text() if log else ''}")


def rows(data: Path, statement: str) -> list[tuple]:
    """What the SQLite database of the data folder `data` answers, whoever else uses it."""
    with closing(sqlite3.connect(f"file:{data / 'db.sqlite3'}?mode=ro", uri=True, timeout=30)) as database:
        return database.execute(statement).fetchall()


def open_tasks(data: Path) -> int:
    return rows(data, "SELECT count(*) FROM tasks_task WHERE state IN ('queued', 'running')")[0][0]
