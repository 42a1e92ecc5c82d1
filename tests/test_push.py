"""`push --watch` into a running server, while connections are cut, the server is killed and the sender is killed.

In the end the server holds exactly what the sender's own server, with a data folder of its own, holds that read the same logs
from disk: nothing lost, nothing doubled, the same audits.
"""

from __future__ import annotations

import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.processes import ROOT, environment, kill_all, manage, open_tasks, rows, started, until
from tests.servers import free_port

pytestmark = pytest.mark.slow

CORPUS = Path(__file__).parent / "data" / "corpus"
PROJECT = "--srv-demo-app--"
TOKEN = """
from dshweb.access.models import Team, User
from dshweb.access.services import tokens
user = User.objects.order_by("pk").first()
print("secret", tokens.make(Team.objects.get(slug="main"), user, "collector", ["ingest"])[1])
"""


class Proxy:
    """Hands bytes on to `port`, slowly, and drops every connection when told to. `passed` counts what went up."""

    def __init__(self, port: int, *, bytes_a_second: int) -> None:
        self.target, self.pace, self.passed = port, bytes_a_second, 0
        self._open: set[socket.socket] = set()
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _address = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(("127.0.0.1", self.target), timeout=5)
        except OSError:
            client.close()
            return
        self._open |= {client, server}
        threading.Thread(target=self._copy, args=(server, client, False), daemon=True).start()
        self._copy(client, server, True)

    def _copy(self, source: socket.socket, target: socket.socket, up: bool) -> None:
        with suppress(OSError):
            source.settimeout(None)
            while data := source.recv(1024 if up else 65536):
                if up:
                    time.sleep(len(data) / self.pace)  # a slow line, not a wait for something
                    self.passed += len(data)
                target.sendall(data)
        for end in (source, target):
            self._open.discard(end)
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def cut(self) -> None:
        for end in list(self._open):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._server.close()
        self.cut()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A DSH home with sixteen recorded sessions, one of which is still being written."""
    target = tmp_path / "home"
    logs = {path.parent.name: path for path in sorted(CORPUS.glob(f"*/sessions/{PROJECT}/session-*/*.zstd"))}
    for folder, path in list(logs.items())[:16]:
        copy = target / "sessions" / PROJECT / folder / path.name
        copy.parent.mkdir(parents=True)
        shutil.copy(path, copy)
    return target


def answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            connection.sendall(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            return b" 200 " in connection.recv(64)
    except OSError:
        return False


def token_of(env: dict[str, str]) -> str:
    """The secret of a new collector's token of the installation."""
    return manage(["shell", "--no-imports", "-c", TOKEN], env).stdout.split("secret ")[1].strip()


def picture(env: dict[str, str]) -> dict:
    """All rows of an installation, with every place named by its folder and file."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.picture"],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found = json.loads(re.sub(rf'"(push:\d+-[^/"]+|[^"]*/sessions/{PROJECT})/', '"', done.stdout))
    return {
        kind: sorted(json.dumps(row, sort_keys=True) for row in listed)
        for kind, listed in found.items()
        if kind != "found"
    }


def test_nothing_is_lost_or_doubled_whatever_is_killed_or_cut(tmp_path, home):
    data, port = tmp_path / "server", free_port()
    env = environment(data, WATCH_POLL_SECONDS="1")
    server_log, push_log = tmp_path / "server.log", tmp_path / "push.log"
    assert manage(["migrate", "-v0"], env).returncode == 0
    laptop = environment(tmp_path / "nothing", DSHWEB_PUSH_TOKEN=token_of(env), WATCH_POLL_SECONDS="1")
    proxy = Proxy(port, bytes_a_second=80_000)
    command = ["push", str(home), "--server", f"http://127.0.0.1:{proxy.port}", "--watch", "--piece", "20000"]
    live = min(home.rglob("*.zstd"))  # sent first, so that it grows under the sender
    whole = live.read_bytes()
    live.write_bytes(whole[: len(whole) // 3])

    def went(more: int) -> None:
        """Waits until so many bytes more were on their way, so that what follows falls into a transfer."""
        aim = proxy.passed + more
        until(lambda: proxy.passed >= aim, f"{more} bytes more", log=push_log)

    with ExitStack() as stack:
        second = environment(tmp_path / "second")
        own = stack.enter_context(started(["serve", "--port", "0"], second, tmp_path / "second.log"))
        until(lambda: "listens on" in (tmp_path / "second.log").read_text(), "the sender's server is up", own)
        stack.callback(proxy.close)
        serve = stack.enter_context(started(["serve", "--port", str(port)], env, server_log))
        until(lambda: answers(port), "it is ready", serve, server_log)
        push = stack.enter_context(started(command, laptop, push_log))
        went(30_000)
        proxy.cut()
        went(35_000)
        kill_all(serve.pid)  # in the middle of a body
        serve = stack.enter_context(started(["serve", "--port", str(port)], env, server_log))
        went(60_000)
        push.kill()
        push.wait()
        with live.open("ab") as stream:
            stream.write(whole[len(whole) // 3 : len(whole) // 2] + b"(\xb5/\xfd torn")
        push = stack.enter_context(started(command, laptop, push_log))
        went(90_000)
        kill_all(serve.pid)
        proxy.cut()
        serve = stack.enter_context(started(["serve", "--port", str(port)], env, server_log))
        with live.open("r+b") as stream:  # DSH takes a torn tail back and goes on
            stream.truncate(len(whole) // 2)
        proxy.pace = 1_000_000
        with live.open("ab") as stream:
            for at in range(len(whole) // 2, len(whole), 3000):
                stream.write(whole[at : min(at + 3000, len(whole))])
                stream.flush()
                proxy.cut()
        sizes = sorted(path.stat().st_size for path in home.rglob("*.zstd"))

        def settled() -> bool:
            here = rows(data, "SELECT size FROM sessionlog_sourcefile")
            return sorted(size or 0 for (size,) in here) == sizes and not open_tasks(data)

        until(settled, "all is there and read", push, push_log)
        push.send_signal(signal.SIGTERM)
        assert push.wait(30) == 0, push_log.read_text()
        serve.send_signal(signal.SIGTERM)
        assert serve.wait(60) == 0, server_log.read_text()
        assert manage(["ingest", str(home)], second, patience=300).returncode == 0

    assert not (tmp_path / "nothing").exists()
    assert not list((data / "uploads" / "pieces").iterdir())
    assert not rows(data, "SELECT id, error FROM tasks_task WHERE state = 'failed'")
    here, there = picture(second), picture(env)
    for kind, wanted in here.items():
        assert there[kind] == wanted, kind
