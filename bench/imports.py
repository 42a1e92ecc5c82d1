"""P3 to P8: importing logs, next to AgentsView's `sync` where the goal names it.

P3 and P4 compare whole processes from start to end, as both are used: `sync` on a fresh archive on their side, `manage.py ingest` on
ours (the empty database is made before, as `serve` does it). P5 and P6 are relative to our own first import, without process start.
"""

from __future__ import annotations

import json
import shutil
import statistics
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from bench import peers
from bench.corpora import Corpus, corpus, frame
from bench.measure import PAIRS, Pairs, Row, amount, interleaved, row
from bench.product import data_folder, run

APPENDS = 7
OVER_IDLE = 96e6


def _complete(log: Corpus, totals: dict[str, Any]) -> None:
    """An import counts only if it kept everything."""
    got = (totals["events"], totals["frames"], totals["status"]["ok"])
    if got != (log.events, log.frames, log.sessions):
        raise AssertionError(f"{log.name}: (events, frames, logs read without damage) {got}")


@cache
def _side_by_side(name: str) -> list[list[float]]:
    """Seconds of [ours without text index, AgentsView, ours with it, ours without process start, ours
    unchanged], then processor seconds of the first three."""
    logs = corpus(name)
    cpu: tuple[list[float], ...] = ([], [], [])
    inner: list[float] = []
    again: list[float] = []

    def unindexed() -> float:
        with data_folder() as data:
            done, told = run(data, "ingest", str(logs.path), "unindexed")
        cpu[0].append(done.cpu)
        _complete(logs, told["totals"])
        return done.seconds

    def agentsview() -> float:
        with peers.agentsview(logs.path) as viewer:
            done, sessions, _ = viewer.sync()
        cpu[1].append(done.cpu)
        if sessions != logs.sessions:
            raise AssertionError(f"agentsview read {sessions} of {logs.sessions} sessions")
        return done.seconds

    def indexed() -> float:
        with data_folder() as data:
            done, told = run(data, "ingest", str(logs.path))
        _complete(logs, told["totals"])
        cpu[2].append(done.cpu)
        return done.seconds

    def twice() -> float:
        with data_folder() as data:
            done, told = run(data, "import", str(logs.path), "1")
        _complete(logs, told["totals"])
        inner.append(told["seconds"])
        again.append(told["again"][0])
        return done.seconds

    figures = interleaved(unindexed, agentsview, indexed, twice)
    return [*figures[:3], inner, again, *cpu]


def _cpu(ours: list[float], peer: list[float]) -> str:
    """Processor time of both: steadier than wall time where other work runs beside the bench."""
    mine, theirs = statistics.median(ours), statistics.median(peer)
    return f"CPU {mine:.1f} s against {theirs:.1f} s = {theirs / mine:.2f}×, process start included on both sides"


def p3() -> list[Row]:
    ours, peer, *_, cpu, peer_cpu, _ = _side_by_side("D20")
    what = "import of D20 without text index, faster than AgentsView 0.46.1 `sync`"
    return [row("P3", what, Pairs(ours, peer), must=4, stretch=7, faster=True, note=_cpu(cpu, peer_cpu))]


def p4() -> list[Row]:
    _, peer, ours, *_, peer_cpu, cpu = _side_by_side("D20")
    what = "import of D20 with text index, faster than AgentsView 0.46.1 `sync`"
    return [row("P4", what, Pairs(ours, peer), must=1.2, stretch=2, faster=True, note=_cpu(cpu, peer_cpu))]


def p34s() -> list[Row]:
    """The same on D20S, where most rows are streamed chunks: not a goal, but says how far the ratios depend on the corpus."""
    ours, peer, indexed, *_ = _side_by_side("D20S")
    what = "the same with D20S (every streamed chunk a row)"
    return [
        row("P3s", f"{what}, without text index", Pairs(ours, peer), must=None, stretch=None, faster=True),
        row("P4s", f"{what}, with text index", Pairs(indexed, peer), must=None, stretch=None, faster=True),
    ]


def p5() -> list[Row]:
    _, _, _, first, again, *_ = _side_by_side("D20")
    what = "re-import of the unchanged D20 : its first import"
    return [row("P5", what, Pairs(again, first), must=0.02, stretch=0.005, note="without process start")]


@cache
def _large() -> dict[str, Any]:
    """Imports a copy of L100, then appends frames to it."""
    logs = corpus("L100")
    with data_folder() as data, tempfile.TemporaryDirectory(prefix="dshweb-bench-log-") as folder:
        log = Path(folder) / logs.path.parent.name / logs.path.name
        log.parent.mkdir()
        shutil.copy(logs.path, log)
        names = []
        for number in range(APPENDS):
            name = Path(folder) / f"frame-{number}"
            name.write_bytes(_next_frame(logs, number))
            names.append(str(name))
        _, told = run(data, "append", str(log), *names)
    _complete(logs, told["totals"])
    return told


def _next_frame(logs: Corpus, number: int) -> bytes:
    """A batch of two rows that go on where the log ends: the step of a turn and what a person says in it."""
    seq, time = logs.events + 2 * number, 1_900_000_000_000 + number
    message = {
        "content": [
            {"type": "text", "text": f"And now part {number} of /srv/demo-app/lease/plan_{number}.md, please."}
        ],
        "source": {"kind": "user"},
        "role": "user",
        "id": f"0b1d6c58-0000-4000-a000-{number:012d}",
    }
    rows = (
        {"type": "step/start", "seq": seq, "time": time, "data": {"turn": 1, "step": number}},
        {"type": "user/message", "seq": seq + 1, "time": time, "data": message, "surfaceOp": "append"},
    )
    return frame(b"".join(json.dumps(item).encode() + b"\n" for item in rows))


def p6() -> list[Row]:
    told = _large()
    pairs = Pairs(told["appends"], [told["seconds"]] * len(told["appends"]))
    what = "one frame appended to L100, until visible : full import of L100"
    return [row("P6", what, pairs, must=0.01, stretch=0.002, note="without process start; one full import")]


def p7() -> list[Row]:
    with data_folder() as data:
        _, told = run(data, "store", str(corpus("L12").path), str(PAIRS))
    what = f"{told['rows']:,} event rows into the database, rows/s of bare executemany"
    return [row("P7", what, Pairs(told["ours"], told["bare"]), must=0.7, stretch=0.9, faster=True)]


def p8() -> list[Row]:
    told = _large()
    over = told["peak"] - told["idle"]
    logs = corpus("L100")
    with peers.agentsview(logs.path.parents[3]) as viewer:
        peer, _, _ = viewer.sync()
    note = f"one run each; idle {told['idle'] / 1e6:.0f} MB, peak {told['peak'] / 1e6:.0f} MB"
    return [
        Row("P8", "peak memory over idle while importing L100 : 96 MB", amount(over / 1e6, "megabyte"), "96 MB (absolute)",
            over / OVER_IDLE, 1, 0.5, note=note),
        Row("P8b", "peak memory importing L100 : AgentsView `sync`", amount(told["peak"] / 1e6, "megabyte"),
            amount(peer.peak / 1e6, "megabyte"), told["peak"] / peer.peak, 0.6, note="one run each"),
    ]  # fmt: skip
