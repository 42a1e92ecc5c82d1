"""Task kinds that tests of real worker processes use. They leave marks in files, since they run in another process."""

from __future__ import annotations

import time
from pathlib import Path

from dshweb.tasks.progress import Progress
from dshweb.tasks.registry import task_kind


@task_kind("mark")
def mark(progress: Progress, payload: dict) -> dict:
    """Append a line to `payload["file"]`."""
    with Path(payload["file"]).open("a") as stream:
        stream.write("ran\n")
    return {"ok": True}


@task_kind("slow-once")
def slow_once(progress: Progress, payload: dict) -> dict:
    """The first run goes on until it is stopped, the second ends at once."""
    path = Path(payload["file"])
    with path.open("a") as stream:
        stream.write("started\n")
    first = path.read_text().count("started") == 1
    while first:
        progress.step(1, 2, "steps")
        time.sleep(0.05)
    return {"second": True}
