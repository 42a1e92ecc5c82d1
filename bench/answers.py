"""P18: how many inspect and models answers a second, against a ninja call that does nothing on the same server.

One connection, one request after the other, in turn; a side is one batch. The second goal: the slowest twentieth of the
answers takes as long for a session of 20,000 events as for one of 50.
"""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bench.answering import LONG, NAME, SHORT
from bench.measure import Pairs, Row, interleaved, row
from bench.product import ROOT, data_folder, variables

BATCH = 300
INSPECT, MODELS, PING = "/better-compact/api/inspect", "/better-compact/api/models", "/p/ping"


@contextmanager
def server() -> Iterator[tuple[int, dict[str, str]]]:
    """Port and keys of a filled server with one thread."""
    with data_folder() as data, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        process = subprocess.Popen(
            [sys.executable, "-m", "bench.answering", str(port)],
            cwd=ROOT, env=variables(data), stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            assert process.stdout is not None
            keys = json.loads(process.stdout.readline())
            for _ in range(300):
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    time.sleep(0.1)
            yield port, keys
        finally:
            process.terminate()
            process.wait()


def batch(port: int, path: str, headers: dict[str, str], pick: Callable[[list[float]], float]) -> Callable[[], float]:
    """A side: `pick` of the seconds that each of BATCH answers took."""
    line = http.client.HTTPConnection("127.0.0.1", port)

    def side() -> float:
        took = []
        for _ in range(BATCH):
            start = time.perf_counter()
            line.request("GET", path, headers=headers)
            answer = line.getresponse()
            body = answer.read()
            took.append(time.perf_counter() - start)
            if answer.status != 200:
                raise RuntimeError(f"{path}: {answer.status} {body[:200]!r}")
        return pick(sorted(took))

    return side


def mean(took: list[float]) -> float:
    return sum(took) / len(took)


def p95(took: list[float]) -> float:
    return took[len(took) * 95 // 100]


def p18() -> list[Row]:
    with server() as (port, keys):
        token = {"Authorization": f"Bearer {keys['token']}"}
        login = {"Cookie": f"dshweb_session={keys['login']}"}
        short, long = (f"{INSPECT}?sessionId={NAME.format(events)}" for events in (SHORT, LONG))
        ping, by_token, by_login, models = interleaved(
            batch(port, PING, {}, mean),
            batch(port, long, token, mean),
            batch(port, long, login, mean),
            batch(port, MODELS, token, mean),
        )
        of_long, of_short = interleaved(batch(port, long, token, p95), batch(port, short, token, p95))
    goal = {"must": 0.6, "stretch": 0.8, "faster": True}
    return [
        row("P18", "inspect of 20,000 events by token, against a ninja ping", Pairs(by_token, ping), **goal),
        row("P18b", "the same by a browser's login", Pairs(by_login, ping), must=None, stretch=None, faster=True),
        row("P18c", "models by token, against a ninja ping", Pairs(models, ping), **goal),
        row("P18d", "p95 of inspect: 20,000 events against 50", Pairs(of_long, of_short), must=1.3, stretch=1.1),
    ]
