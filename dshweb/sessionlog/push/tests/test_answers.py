"""The collector against servers that are none, or in trouble."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from dshweb.sessionlog.push.client import Client, Stop
from dshweb.sessionlog.push.sender import GaveUp, Sender
from dshweb.sessionlog.push.tests.logs import BYTES, FOLDER, NAME


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
