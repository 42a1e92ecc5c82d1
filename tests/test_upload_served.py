"""Hostile senders against a running server: lengths that lie, bodies without one, bodies that stall, and a very large one."""

from __future__ import annotations

import json
import re
import socket
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.processes import environment, manage, open_tasks, rows, started, until
from tests.test_push import answers, token_of
from tests.test_serve import children, get, port_of

pytestmark = pytest.mark.slow

LOG = next((Path(__file__).parent / "data" / "corpus" / "plain-chat-en").rglob("*.zstd")).read_bytes()
AT = "/api/v1/logs/session-1/session.v4.jsonl.zstd?offset=0"


def begin(port: int, secret: str, method: str, path: str, *headers: str) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=60)
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {secret}", *headers, "", ""]
    connection.sendall("\r\n".join(lines).encode())
    return connection


def answer(connection: socket.socket) -> tuple[int, str]:
    """Status and code of the answer."""
    seen = b""
    while part := connection.recv(65536):
        seen += part
        length = re.search(rb"(?i)content-length: (\d+)", seen)
        head, _blank, body = seen.partition(b"\r\n\r\n")
        if length and len(body) >= int(length[1]):
            return int(head.split()[1]), json.loads(body).get("code", "")
    raise AssertionError(seen)


def memory(pid: int) -> int:
    """The most a process ever had in memory, in bytes."""
    return int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1]) * 1024


def test_hostile_senders_get_an_answer_and_leave_nothing(tmp_path):
    data, log = tmp_path / "data", tmp_path / "log"
    env = environment(data, MAX_UPLOAD_BYTES=str(200 << 20))
    assert manage(["migrate", "-v0"], env).returncode == 0
    secret = token_of(env)
    with ExitStack() as stack:
        serve = stack.enter_context(started(["serve", "--port", "0"], env, log))
        port = port_of(log, serve)
        until(lambda: answers(port), "it is ready", serve, log)

        def open_(method: str, path: str, *headers: str) -> socket.socket:
            return stack.enter_context(begin(port, secret, method, path, *headers))

        for method, path, status, code in (
            ("POST", "/api/v1/logs?name=a.v4.jsonl", 413, "logs/too-large"),
            ("PUT", AT, 413, "logs/piece-too-large"),
        ):
            assert answer(open_(method, path, "Content-Length: 10000000000")) == (status, code)
            chunked = open_(method, path, "Transfer-Encoding: chunked")
            chunked.sendall(b"3\r\nabc\r\n0\r\n\r\n")
            assert answer(chunked) == (411, "length-required")
            half = open_(method, path, "Content-Length: 100")
            half.sendall(b"half")
            half.close()
        # more bodies that never come than there are threads: pages are served all the same
        stalled = [open_("PUT", AT, "Content-Length: 1000") for _ in range(6)]
        asked = time.monotonic()
        assert get(port, "/healthz") == (200, "ok\n")
        assert time.monotonic() - asked < 20
        # as many strangers who never end a form
        form = b"POST /login/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\nCookie: dshweb_csrf="
        for _ in range(12):
            stranger = socket.create_connection(("127.0.0.1", port), timeout=60)
            stranger.sendall(form + b"a" * 32 + b"\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n")
            stalled.append(stack.enter_context(stranger))
        asked = time.monotonic()
        assert get(port, "/healthz") == (200, "ok\n")
        assert time.monotonic() - asked < 20
        for connection in stalled:
            connection.close()
        # then uploads go on
        size = 150 << 20
        large = open_("POST", "/api/v1/logs?name=large.v4.jsonl", f"Content-Length: {size}")
        piece = b'{"type": "nonsense", "text": "' + b"x" * 1_048_000 + b'"}\n'
        whole, rest = divmod(size, len(piece))
        for _ in range(whole):
            large.sendall(piece)
        large.sendall(piece[:rest])
        assert answer(large)[0] == 202
        put = open_("PUT", AT, f"Content-Length: {len(LOG)}")
        put.sendall(LOG)
        assert answer(put)[0] == 200
        assert all(memory(pid) < 300 << 20 for pid, command in children(serve.pid) if "worker" not in command)
        until(lambda: not open_tasks(data), "all is read", serve, log)
        assert rows(data, "SELECT session_id FROM sessionlog_session WHERE title != ''")
    left = [path for name in ("whole", "pieces") for path in (data / "uploads" / name).iterdir()]
    assert left == []
    assert "Traceback" not in re.sub(r"(?s)ERROR dshweb.tasks.services: task.*?NotALog: [^\n]*", "", log.read_text())
