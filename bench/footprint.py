"""P21: memory of an idle product (web workers and queue worker) against AgentsView's idle daemon.

Two rows. P21: what a process tree takes by itself: private memory by share, and every page range of a file once, however many of
the tree's processes map it. Plain PSS will not do: it shrinks when processes outside the tree (another Python, another bench) map
the same files. P21b: the plain sum of resident sizes, which is the goal's word, and counts what the tree shares several times.
Each sample has an archive of its own: the daemon's heap differs by a quarter from one sync to the next.
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
from bench.measure import PAIRS, ChildFailedError, Pairs, Row, row
from bench.product import ROOT, data_folder, variables

SETTLE = 5.0  # seconds of idling before memory is read
READY = 90.0


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
    """(own footprint, sum of RSS) of these processes together, in bytes. See the module's docstring."""
    private = resident = 0
    files: dict[tuple[str, str], int] = {}
    for process in processes:
        try:
            rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
            maps = Path(f"/proc/{process}/smaps").read_text()
        except OSError:
            continue
        resident += _field(rollup, "Rss")
        private += _field(rollup, "Pss_Anon") + _field(rollup, "Pss_Shmem")
        for part in re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", maps, flags=re.M)[1:]:
            _, _, offset, _, inode, *_ = part.split("\n", 1)[0].split()
            if inode != "0":
                here = _field(part, "Rss") - _field(part, "Anonymous")
                files[inode, offset] = max(files.get((inode, offset), 0), here)
    return private + sum(files.values()), resident


def _field(text: str, name: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+) kB", text, re.M)
    return int(found[1]) * 1024 if found else 0


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
    own: tuple[list[float], list[float]] = ([], [])
    resident: tuple[list[float], list[float]] = ([], [])
    count = 0
    for _ in range(PAIRS):
        mine, my_rss, count = ours()
        with peers.agentsview(corpus("D20").path) as viewer:
            viewer.sync()
            theirs, their_rss = daemon(viewer)
        for into, pair in ((own, (mine, theirs)), (resident, (my_rss, their_rss))):
            for side, value in zip(into, pair, strict=True):
                side.append(value / 1e6)
    what = "idle memory, `serve` with 2 web workers, empty : AgentsView daemon over D20"
    note = f"{count} processes"
    bounds = {"must": 1.2, "stretch": 1.0, "unit": "megabyte", "note": note}
    return [
        row("P21", f"{what} (shared pages once)", Pairs(*own), **bounds),
        row("P21b", f"{what} (sum of RSS)", Pairs(*resident), **bounds),
    ]
