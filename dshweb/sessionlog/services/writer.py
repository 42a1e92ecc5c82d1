"""Whether a DSH process writes a session right now: it holds an exclusive `flock` on `session.lock` beside the log.

Rule: INTEGRATION (c) «Lock»: the lock is never taken to find out, for DSH refuses a session whose lock is held in the instant it
opens it. Linux lists the locks of all processes; where that list is missing, or the log came from elsewhere, nothing is known.
"""

from __future__ import annotations

import os
from pathlib import Path

LOCKS = Path("/proc/locks")


def is_written(location: str) -> bool | None:
    """`location`: a place of the log (`SourceFile.location`). None: cannot be told from here."""
    if not location.startswith("/"):
        return None
    try:
        lock = Path(location).with_name("session.lock").stat()
        held = LOCKS.read_text("ascii", "replace")
    except (OSError, ValueError):
        return None
    return any(_is(line.split(), lock) for line in held.splitlines())


def _is(entry: list[str], lock: os.stat_result) -> bool:
    """An entry reads `1: FLOCK ADVISORY WRITE <pid> <major>:<minor>:<inode> 0 EOF`; who waits has `->` behind the number.

    File systems without a device of their own (major 0) list another device than they show to `stat`.
    """
    if len(entry) < 6 or entry[1] != "FLOCK" or entry[3] != "WRITE":
        return False
    device, _, inode = entry[5].rpartition(":")
    major, minor = os.major(lock.st_dev), os.minor(lock.st_dev)
    return inode == str(lock.st_ino) and (device == f"{major:02x}:{minor:02x}" or major == 0)
