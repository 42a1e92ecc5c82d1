"""P21: memory of an idle product (web workers and queue worker) against AgentsView's idle daemon.

Memory of a process tree is the sum of each process's proportional share (PSS: pages shared by n processes count 1/n each).
The plain sum of resident sizes, which counts shared pages several times, is in the note.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench import peers
from bench.corpora import corpus
from bench.measure import ChildFailedError, Pairs, Row, row
from bench.product import ROOT, data_folder, variables

SETTLE = 5.0  # seconds of idling before memory is read
READY = 90.0
SAMPLES = 3


def tree(root: int) -> list[int]:
    """Process ids of `root` and everything below it."""
    below: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            below.setdefault(int(fields[1]), []).append(int(entry.name))
    found = [root]
    for process in found:
        found += below.get(process, [])
    return found


def memory(processes: list[int]) -> tuple[int, int]:
    """(PSS, RSS) of these processes together, in bytes."""
    share = resident = 0
    for process in processes:
        try:
            text = Path(f"/proc/{process}/smaps_rollup").read_text()
        except OSError:
            continue
        share += int(re.search(r"^Pss:\s+(\d+)", text, re.M)[1]) * 1024  # type: ignore[index]
        resident += int(re.search(r"^Rss:\s+(\d+)", text, re.M)[1]) * 1024  # type: ignore[index]
    return share, resident


@contextmanager
def serving() -> Iterator[int]:
    """The product on a free port with an empty data folder; gives the process id of `serve` once it says it is ready."""
    with data_folder() as data, tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "manage.py"), "serve", "--port", "0"],
            env=variables(data, WEB_WORKERS="2"),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            _wait_ready(process, said.fileno())
            yield process.pid
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)  # the group that we started
                process.wait()


def _wait_ready(process: subprocess.Popen[bytes], said: int) -> None:
    until = time.monotonic() + READY
    output = ""
    while time.monotonic() < until:
        if process.poll() is not None:
            break
        output = os.pread(said, 1 << 16, 0).decode(errors="replace")
        for address in re.findall(r"http://[\w.:\[\]]+:[1-9]\d*", output):
            try:
                with urllib.request.urlopen(f"{address}/readyz", timeout=5) as answer:
                    if answer.status == 200:
                        return
            except OSError:
                continue
        time.sleep(0.5)
    raise ChildFailedError(f"serve did not become ready: {output[-400:]}")


def ours() -> tuple[int, int, int]:
    with serving() as process:
        time.sleep(SETTLE)
        members = tree(process)
        return (*memory(members), len(members))


def daemon(viewer: peers.AgentsView) -> tuple[int, int]:
    """Starts the daemon over what is synced already, idles, reads its memory, stops it."""
    viewer.run("daemon", "start")
    try:
        time.sleep(SETTLE)
        mark = f"AGENTSVIEW_DATA_DIR={viewer.database.parent}".encode()
        found = [process for process in map(int, filter(str.isdigit, os.listdir("/proc"))) if _has(process, mark)]
        if not found:
            raise ChildFailedError("agentsview daemon start left no process")
        return memory(found)
    finally:
        viewer.stop()


def _has(process: int, mark: bytes) -> bool:
    try:
        return mark in Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


def p21() -> list[Row]:
    mine, theirs, note = [], [], ""
    with peers.agentsview(corpus("D20").path) as viewer:
        viewer.sync()
        for _ in range(SAMPLES):
            share, resident, count = ours()
            peer_share, peer_resident = daemon(viewer)
            mine.append(share / 1e6)
            theirs.append(peer_share / 1e6)
            note = f"{count} processes; sum of RSS {resident / 1e6:.0f} MB against {peer_resident / 1e6:.0f} MB"
    what = "idle memory, `serve` with 2 web workers, empty : AgentsView daemon over D20 (PSS)"
    pairs = Pairs(mine, theirs)
    return [row("P21", what, pairs, must=1.2, stretch=1.0, unit="megabyte", note=note)]
