"""`manage.py serve`: both processes or neither, safe defaults, one clear line when it cannot."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.processes import ROOT, environment, manage, started, until

pytestmark = pytest.mark.slow


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path / "data")


def get(port: int, path: str, method: str = "GET", host: str = "localhost") -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request(method, path, headers={"Host": host})
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body


def port_of(log: Path, process) -> int:
    found = until(lambda: re.search(r"listens on \S+:(\d+)", log.read_text()), "it says where it listens", process, log)
    return int(found.group(1))


def children(pid: int) -> list[tuple[int, str]]:
    """Child processes of `pid` with their command lines."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rsplit(")", 1)[1].split()[1])
            command = (path.parent / "cmdline").read_text().replace("\0", " ")
        except OSError:
            continue
        if parent == pid:
            found.append((int(path.parent.name), command))
    return found


def test_from_nothing_it_serves_lets_the_admin_in_once_and_stops_cleanly_twice(env, tmp_path):
    log, data = tmp_path / "log", Path(env["DSHWEB_DATA_DIR"])
    with started(["serve", "--port", "0"], env, log) as process:
        port = port_of(log, process)
        assert get(port, "/healthz") == (200, "ok\n")
        until(lambda: get(port, "/readyz")[0] == 200, "it is ready", process, log)
        assert json.loads(get(port, "/readyz")[1])["ok"] is True
        assert get(port, "/sessions/")[0] == 302
        assert get(port, "/healthz", host="elsewhere.example")[0] == 400
        link = re.search(r"http://127\.0\.0\.1:\d+(/login/link/\S+)", log.read_text()).group(1)
        status, page = get(port, link)
        assert status == 200
        assert "csrfmiddlewaretoken" in page
        secret = link.rstrip("/").rsplit("/", 1)[1]
        assert not any(secret.encode() in path.read_bytes() for path in data.rglob("*") if path.is_file())
        assert secret not in Path(f"/proc/{process.pid}/cmdline").read_text()
        inside = children(process.pid)
        assert any("manage.py worker" in command for _, command in inside)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0, log.read_text()
        assert not any(Path(f"/proc/{pid}").exists() for pid, _ in inside)
    assert "WARNING" not in log.read_text()
    assert "Traceback" not in log.read_text()

    log.write_text("")
    with started(["serve", "--port", "0"], env, log) as process:
        port = port_of(log, process)
        assert get(port, link)[0] == 404  # the second start made a new one
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0, log.read_text()


@pytest.mark.parametrize("moment", ["it prepares", "it has just begun to listen", "its worker is ready"])
def test_ctrl_c_stops_it_soon_and_in_order_at_any_moment(env, tmp_path, moment):
    """A terminal sends the signal to the whole process group: web workers that got it twice hung until they were killed."""
    log, database = tmp_path / "log", Path(env["DSHWEB_DATA_DIR"]) / "db.sqlite3"
    reached = {
        "it prepares": database.exists,
        "it has just begun to listen": lambda: "listens on" in log.read_text(),
        "its worker is ready": lambda: "is ready" in log.read_text(),
    }
    with started(["serve", "--port", "0"], env, log) as process:
        until(reached[moment], moment, process, log)
        begun = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(60) == 0, log.read_text()
        assert time.monotonic() - begun < 8, "three seconds, and some for a busy machine"
    assert "refused" not in log.read_text()
    assert "Traceback" not in log.read_text()


def test_told_to_end_inside_a_callback_it_ends_all_the_same():
    """An exception raised while a weak reference's callback runs is swallowed: the server used to start after Ctrl-C."""
    program = """
import os, signal, weakref
from dshweb.supervisor import end_before_it_serves
class Held: pass
end_before_it_serves()
held = Held()
weakref.finalize(held, os.kill, os.getpid(), signal.SIGTERM)
del held
print("went on")
"""
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, cwd=ROOT, check=False
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


@pytest.mark.parametrize("victim", ["manage.py worker", "dshweb.supervisor|spawn_main"])
def test_when_one_side_dies_the_other_is_stopped_and_it_says_so(env, tmp_path, victim):
    log = tmp_path / "log"
    with started(["serve", "--port", "0"], env, log) as process:
        port_of(log, process)
        inside = children(process.pid)
        os.kill(next(pid for pid, command in inside if re.search(victim, command)), signal.SIGKILL)
        assert process.wait(60) == 1, log.read_text()
        assert not any(Path(f"/proc/{pid}").exists() for pid, _ in inside)
    assert "ended by itself" in log.read_text()


def test_a_port_in_use_is_one_clear_line(env):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        run = manage(["serve", "--port", str(port)], env)
    assert run.returncode == 1
    assert run.stderr.strip().splitlines() == [run.stderr.strip()]
    assert f"127.0.0.1:{port}" in run.stderr
    assert "in use" in run.stderr


def test_a_wide_bind_is_warned_about_loudly(env, tmp_path):
    """Field reports FR-098 and FR-100: say where it listens; a wide bind is never the default and never silent."""
    log = tmp_path / "log"
    with started(["serve", "--host", "0.0.0.0", "--port", "0"], env, log) as process:
        port = port_of(log, process)
        text = log.read_text()
        assert f"listens on 0.0.0.0:{port}" in text
        for words in ("WARNING", "every machine", "ALLOWED_HOSTS", "TLS"):
            assert words in text
        assert get(port, "/sessions/")[0] == 302
        process.send_signal(signal.SIGHUP)  # the terminal was closed
        assert process.wait(60) == 0, log.read_text()
