"""The collector against a real server, and against servers that answer badly."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from dshweb.access.services import tokens
from dshweb.sessionlog.models import DELETED, LogFile, Session, SourceFile
from dshweb.sessionlog.push.client import Client, Stop
from dshweb.sessionlog.push.names import Names
from dshweb.sessionlog.push.sender import GaveUp, Sender
from dshweb.sessionlog.services import store
from dshweb.sessionlog.services.discover import find_logs
from dshweb.tasks.services import drain

ROOT = Path(__file__).resolve().parents[4]
CORPUS = ROOT / "tests" / "data" / "corpus"
BYTES = next((CORPUS / "repeated-compaction").rglob("*.zstd")).read_bytes()
OTHER = next((CORPUS / "tools-en").rglob("*.zstd")).read_bytes()
FOLDER, NAME = "session-1", "session.v4.jsonl.zstd"


@pytest.fixture
def there(transactional_db, live_server, people, data_dir):
    """A sender to a running server, with bob's token; what it said is in `.said`."""
    _row, secret = tokens.make(people.team, people.bob, "collector", ["ingest"])

    def make(piece=3000):
        said: list[str] = []
        sender = Sender(Client(live_server.url, secret), stop=threading.Event(), tries=3, say=said.append, piece=piece)
        sender.said = said
        return sender

    return make


@pytest.fixture
def log(tmp_path):
    path = tmp_path / FOLDER / NAME
    path.parent.mkdir()
    path.write_bytes(BYTES)
    return path


def stored():
    return [store.local_path(row.stored).read_bytes() for row in LogFile.unscoped.order_by("id")]


def test_a_log_is_shipped_once_and_what_is_new_of_it_after_that(there, log, people):
    half = len(BYTES) // 2
    log.write_bytes(BYTES[:half])
    sender = there()
    assert (sent := sender.send(log, FOLDER, NAME)).status == "sent"
    assert sent.bytes == half
    drain(people.team)
    log.write_bytes(BYTES)
    for again in (sender, there()):  # the same process, and one that remembers nothing
        sent = again.send(log, FOLDER, NAME)
        assert (sent.status, sent.bytes) == (("sent", len(BYTES) - half) if again is sender else ("unchanged", 0))
    drain(people.team)
    assert stored() == [BYTES]
    assert Session.unscoped.get().owner == people.bob


@pytest.mark.parametrize("imported", [False, True])
@pytest.mark.parametrize("kept", [0, 70_000])
def test_a_log_written_anew_from_somewhere_on_is_sent_from_there(there, log, people, imported, kept):
    there(1 << 20).send(log, FOLDER, NAME)
    if imported:
        drain(people.team)
    for anew in (BYTES[:kept] + OTHER * 3, BYTES[:kept] + b"?"):
        log.write_bytes(anew)
        sent = there(1 << 20).send(log, FOLDER, NAME)
        assert sent.status == "sent", sent
        assert sent.bytes <= len(anew) - kept + 64 * 1024
        drain(people.team)
        assert anew in stored() or [path.read_bytes() for path in waiting()] == [anew]


def waiting():
    from dshweb.sessionlog.services import inbox

    return list(inbox.folder("pieces").iterdir())


def test_a_log_that_is_shorter_here_takes_nothing_away_there(there, log, people):
    there().send(log, FOLDER, NAME)
    drain(people.team)
    for length in (len(BYTES) - 10, 0):
        log.write_bytes(BYTES[:length])
        assert there().send(log, FOLDER, NAME).status == "shorter"
    assert stored() == [BYTES]


def test_a_log_deleted_there_is_not_sent_again(there, log, people):
    there().send(log, FOLDER, NAME)
    drain(people.team)
    Session.unscoped.all().delete()
    SourceFile.unscoped.update(status=DELETED)
    assert there().send(log, FOLDER, NAME).status == "deleted"
    assert Session.unscoped.count() == 0


def test_a_log_the_server_does_not_take_fails_alone(there, log, settings):
    settings.MAX_UPLOAD_BYTES = len(BYTES) - 1
    sent = there().send(log, FOLDER, NAME)
    assert sent.status == "failed"
    assert "Larger than" in sent.reason
    assert there().send(log.with_name("gone"), FOLDER, "gone").reason == "the file is gone"


def test_logs_of_one_name_are_told_apart_in_every_run(tmp_path):
    for folder in ("a/session-1", "b/session-1", "b/session-2", "c\\d"):
        path = tmp_path / "sessions" / folder / NAME
        path.parent.mkdir(parents=True)
        path.touch()
    found = find_logs(tmp_path).logs
    names = Names(tmp_path)
    names.learn(found)
    given = [names.of(path) for path in found]
    assert len(set(given)) == 4
    assert ("session-2", NAME) in given
    assert all("\\" not in folder for folder, _name in given)
    other = Names(tmp_path)
    other.learn(reversed(found))
    assert [other.of(path) for path in found] == given


# servers that are none, or in trouble


class Answers(BaseHTTPRequestHandler):
    """Answers each call with the next of `script`: (status, headers, body). The last one stays."""

    script: list[tuple[int, dict[str, str], bytes]] = []
    seen: list[tuple[str, str | None, int]] = []

    def do(self):
        length = int(self.headers.get("Content-Length") or 0)
        self.rfile.read(length)
        self.seen.append((self.path, self.headers.get("Authorization"), length))
        status, headers, body = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if not status:  # the connection breaks off
            self.close_connection = True
            return
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_PUT = do

    def log_message(self, *args):
        pass


@pytest.fixture
def strange():
    """A server that answers by a script, and a sender to it."""
    servers = []

    def start(*script, tries=3):
        handler = type("Handler", (Answers,), {"script": list(script), "seen": []})
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        said: list[str] = []
        sender = Sender(
            Client(f"http://127.0.0.1:{server.server_port}", "dshw_secret"),
            stop=threading.Event(), tries=tries, say=said.append,
        )  # fmt: skip
        sender.seen, sender.said = handler.seen, said
        return sender

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def problem(code, **detail):
    return json.dumps({"code": code, "message": f"about {code}", "detail": detail}).encode()


WHOLE = (200, {}, json.dumps({"size": len(BYTES)}).encode())


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((401, {}, problem("unauthenticated")), "does not accept the token"),
        ((403, {}, problem("forbidden")), "refuses: about forbidden"),
        ((404, {}, b"<html>"), "no dshweb there"),
        ((302, {"Location": "http://evil.example/"}, b""), "redirects to http://evil.example/"),
        ((308, {"Location": "/elsewhere/"}, b""), "redirects to /elsewhere/"),
        ((200, {}, b"<html>welcome</html>"), "does not answer as a dshweb server"),
        ((200, {}, b'{"size": 7}'), "does not answer as a dshweb server"),
        ((418, {}, b"{}"), "does not answer as a dshweb server"),
    ],
)
def test_what_waiting_cannot_mend_ends_the_run_at_once(strange, log, answer, words):
    sender = strange(answer)
    with pytest.raises(Stop, match=words):
        sender.send(log, FOLDER, NAME)
    assert len(sender.seen) == 1  # nothing was followed


@pytest.mark.parametrize(
    "answer",
    [(500, {}, b""), (503, {"Retry-After": "0"}, b"busy"), (429, {}, problem("logs/busy")), (0, {}, b""),
     (400, {}, problem("logs/cut-off")), (507, {}, problem("logs/disk-full"))],
)  # fmt: skip
def test_what_may_pass_is_tried_again(strange, log, answer):
    sender = strange(answer, WHOLE)
    assert sender.send(log, FOLDER, NAME).status == "unchanged"
    assert len(sender.said) == 1
    with pytest.raises(GaveUp, match="run it again"):
        strange(answer, tries=2).send(log, FOLDER, NAME)


def test_the_server_says_how_long_to_wait(strange, log, monkeypatch):
    sender = strange((429, {"Retry-After": "7"}, problem("logs/busy")), WHOLE)
    waited = []
    monkeypatch.setattr(sender.stop, "wait", lambda seconds: waited.append(seconds))
    sender.send(log, FOLDER, NAME)
    assert waited == [7]


def test_a_proxy_that_takes_small_pieces_only_gets_small_pieces(strange, log):
    log.write_bytes(BYTES * 3)
    whole = json.dumps({"size": 3 * len(BYTES)}).encode()
    sender = strange(
        (409, {}, problem("logs/offset", size=0)), (413, {}, b"<html>nginx</html>"), (409, {}, problem("logs/offset", size=0)),
        (409, {}, problem("logs/offset", size=len(whole))), (200, {}, whole),
    )  # fmt: skip
    with pytest.raises(Stop):
        sender.send(log, FOLDER, NAME)
    sizes = [length for _path, _token, length in sender.seen]
    assert sizes[:3] == [0, 3 * len(BYTES), 3 * len(BYTES) // 2]


def test_two_senders_that_never_agree_end(strange, log):
    sender = strange((409, {}, problem("logs/offset", size=0)))
    assert "another sender" in sender.send(log, FOLDER, NAME).reason


@pytest.mark.parametrize(
    "server", ["", "dshweb", "ftp://x", "http://", "http://[::1", "http://a:b@host", "http://x:99999"]
)
def test_an_address_that_is_none_is_said_at_once(server):
    with pytest.raises(Stop, match="--server"):
        Client(server, "t")


# the command


def push(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "manage.py", "push", *map(str, arguments)],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
        env={"PATH": os.environ["PATH"], **environment},
    )  # fmt: skip


def test_the_command_needs_no_database_and_leaves_nothing(there, live_server, people, tmp_path):
    _row, secret = tokens.make(people.team, people.bob, "collector", ["ingest"])
    home, data = CORPUS / "forked", tmp_path / "nothing"
    environment = {"DSHWEB_PUSH_TOKEN": secret, "DSHWEB_DATA_DIR": str(data)}
    first = push(home, "--server", live_server.url, "--piece", 5000, **environment)
    assert first.returncode == 0, first.stderr
    again = push(home, "--server", live_server.url, "--json", **environment)
    assert again.returncode == 0, again.stderr
    rows = [json.loads(line) for line in again.stdout.splitlines()]
    summary = rows.pop()["summary"]
    assert summary["logs"] == len(rows) == len(find_logs(home).logs)
    assert summary["status"] == {"sent": 0, "unchanged": len(rows), "shorter": 0, "deleted": 0, "failed": 0}
    assert first.stdout.splitlines()[-1].startswith(f"{len(rows)} logs ({len(rows)} sent), ")
    assert not data.exists()
    drain(people.team)
    assert LogFile.unscoped.count() == len(rows)


def test_a_collector_that_is_told_to_stop_counts_a_log_that_grew_once(there, live_server, people, log):
    _row, secret = tokens.make(people.team, people.bob, "collector", ["ingest"])
    log.write_bytes(BYTES[: len(BYTES) // 2])
    with subprocess.Popen(
        [sys.executable, "manage.py", "push", str(log.parent), "--server", live_server.url, "--watch"],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={"PATH": os.environ["PATH"], "DSHWEB_PUSH_TOKEN": secret, "DSHWEB_DATA_DIR": str(log.parent.parent / "none")},
    ) as collector:  # fmt: skip
        assert collector.stdout.readline().startswith("sent ")
        log.write_bytes(BYTES)
        assert collector.stdout.readline().startswith("sent ")
        collector.send_signal(signal.SIGINT)
        said, trouble = collector.communicate(timeout=60)
    assert said.splitlines()[-1] == f"1 log (1 sent), {len(BYTES)} bytes sent"
    assert trouble.splitlines() == [trouble.rstrip("\n")], trouble
    assert "watching" in trouble
    assert collector.returncode == 0, "Ctrl-C is how it is stopped, and nothing was lost"


def test_the_command_says_in_one_line_what_is_wrong(live_server, transactional_db, people, tmp_path):
    wrong = push(CORPUS / "forked", "--server", live_server.url, DSHWEB_PUSH_TOKEN="dshw_wrong")
    assert (wrong.returncode, len(wrong.stderr.splitlines())) == (1, 1)
    assert "does not accept the token" in wrong.stderr
    assert push(tmp_path / "no", "--server", live_server.url, "--token", "x").returncode == 1
    assert push(CORPUS, "--server", live_server.url).returncode == 2
    assert push(CORPUS).returncode == 2
    assert "list of processes" in push("--help").stdout
