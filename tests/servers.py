"""Starts PostgreSQL and Redis for tests: servers of their own on free ports, with nothing kept, stopped at the end.

PostgreSQL refuses to run as root, so a root's test run starts it as `postgres` (or `nobody`) in a folder that this user owns.
"""

from __future__ import annotations

import ctypes
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

PATIENCE = 60
USER = "dshweb"


class Missing(Exception):
    """The server's programs are not on this machine. The message says which; tests skip with it."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _until(answers: Callable[[], bool], server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and server.poll() is None:
        if answers():
            return
        time.sleep(0.05)
    raise AssertionError(f"the server does not answer\n{log.read_text(errors='replace')}")


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def _end_with_us(number: signal.Signals) -> Callable[[], None]:
    """For `preexec_fn`: the server gets this signal when the test process is gone, also when that was killed (Linux)."""
    prctl = getattr(ctypes.CDLL(None), "prctl", None)

    def act() -> None:
        if prctl is not None:
            prctl(1, int(number), 0, 0, 0)  # PR_SET_PDEATHSIG; after the change of user, which clears it

    return act


def _stop(server: subprocess.Popen[bytes], number: signal.Signals) -> None:
    server.send_signal(number)
    try:
        server.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


@contextmanager
def redis() -> Iterator[str]:
    """The address of a Redis that keeps nothing on disk."""
    binary = shutil.which("redis-server")
    if binary is None:
        raise Missing("redis-server is not installed here (Debian: redis-server)")
    with tempfile.TemporaryDirectory(prefix="dshweb-redis-") as name:
        port, log = free_port(), Path(name) / "log"
        command = [
            binary,
            "--port",
            str(port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--dir",
            name,
            "--logfile",
            str(log),
        ]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, preexec_fn=_end_with_us(signal.SIGTERM))
        try:
            _until(lambda: _listens(port), server, log)
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            _stop(server, signal.SIGTERM)


def postgres_programs() -> Path:
    """The folder with initdb and postgres, the newest version first. Raises Missing."""
    debian = Path("/usr/lib/postgresql").glob("*/bin")
    folders = sorted(debian, key=lambda path: float(path.parent.name), reverse=True)
    folders += [Path(found).parent for found in [shutil.which("postgres"), "/usr/local/bin/postgres"] if found]
    for folder in folders:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    raise Missing("PostgreSQL's initdb and postgres are not installed here (Debian: postgresql)")


def _unprivileged() -> dict[str, Any]:
    """The arguments that make a root's subprocess somebody else's; nothing for anybody else."""
    if os.getuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": []}
    raise Missing("PostgreSQL does not run as root and there is no user postgres or nobody")


class Postgres:
    """A running server. `url(name)` is DATABASE_URL of a database; `create` makes one, also as a copy of another."""

    def __init__(self, port: int) -> None:
        self.port = port

    def url(self, name: str) -> str:
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{name}"

    def create(self, name: str, *, like: str = "template0") -> str:
        self._say(f'CREATE DATABASE "{name}" TEMPLATE "{like}"')
        return self.url(name)

    def drop(self, name: str) -> None:
        self._say(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def answers(self) -> bool:
        """Whether it takes connections; it listens some time before."""
        try:
            self._say("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def _say(self, statement: str) -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(statement)


@contextmanager
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL of its own: UTF-8, no password on 127.0.0.1, no waiting for the disk."""
    programs, other = postgres_programs(), _unprivileged()
    folder = Path(tempfile.mkdtemp(prefix="dshweb-pg-"))
    try:
        if other:
            os.chown(folder, other["user"], other["group"])
        env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        data, log = folder / "data", folder / "log"
        made = subprocess.run(
            [programs / "initdb", "-D", data, "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"],
            env=env, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False, **other,
        )  # fmt: skip
        assert made.returncode == 0, made.stderr
        port = free_port()
        options = {
            "listen_addresses": "127.0.0.1", "port": port, "unix_socket_directories": folder, "fsync": "off",
            "synchronous_commit": "off", "full_page_writes": "off", "shared_buffers": "32MB", "max_connections": 40,
        }  # fmt: skip
        running = Postgres(port)
        with log.open("wb") as stream:
            server = subprocess.Popen(
                [programs / "postgres", "-D", data, *(f"-c{name}={value}" for name, value in options.items())],
                env=env, cwd=folder, stdout=stream, stderr=stream, start_new_session=True,
                preexec_fn=_end_with_us(signal.SIGINT), **other,
            )  # fmt: skip
        try:
            _until(running.answers, server, log)
            yield running
        finally:
            _stop(server, signal.SIGINT)  # fast shutdown: sessions are ended
    finally:
        shutil.rmtree(folder, ignore_errors=True)
