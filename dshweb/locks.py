"""One at a time, in any process, by a lock that the kernel holds on a file: a killed process holds none."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Waits until nobody else holds the lock of `path`, a file in a folder that is there; it is made and stays."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        # said, not left to the close: a helper forked meanwhile (sessionlog.services.crew) holds a copy of the handle
        fcntl.flock(handle, fcntl.LOCK_UN)
        os.close(handle)
