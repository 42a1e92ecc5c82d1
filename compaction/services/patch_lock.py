"""DSH's own lock of a profile folder: `package.json.lock`, so that we and a running DSH never write at once.

Rule: INTEGRATION (b) «Write path»: created exclusively, content `<pid>\\n`, waited for at most two seconds, taken over when
its process is dead. Made by linking a finished file, so that nobody ever sees it without its content. Taking over is two steps; so
that no two of us do it at once, ours also hold the folder itself (`flock`), which DSH does not know of. Who holds it also
takes away what killed ones of us left: files `.<name>.<pid>.<hex>`.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

NAME = "package.json.lock"
WAIT_SECONDS = 2.0
_STEP = 0.02
_LONGEST = 32
_LEFT = re.compile(r"\.(?:package\.json\.lock|cordis\.patch\.yml)\.([0-9]{1,10})\.[0-9a-f]{8}")


class Locked(Exception):
    """Another process holds the profile. `holder`: its pid, None when the lock does not say."""

    def __init__(self, path: Path, holder: int | None) -> None:
        who = f"process {holder}" if holder else "another process"
        super().__init__(f"{path} is held by {who}; nothing was written, try again")
        self.holder = holder


@contextmanager
def held(folder: Path, *, wait: float = WAIT_SECONDS) -> Iterator[None]:
    """Holds the folder's lock. Raises Locked after `wait` seconds, OSError when the folder cannot be written."""
    end = time.monotonic() + wait
    path = folder / NAME
    with _among_us(folder, path, end) as alone:
        mine = folder / beside(NAME)
        try:
            mine.write_text(f"{os.getpid()}\n")
            if alone:
                _sweep(folder)
            _take(path, mine, end, alone=alone)
            try:
                yield
            finally:
                if _same(path, mine):
                    path.unlink()
        finally:
            mine.unlink(missing_ok=True)


def beside(name: str) -> str:
    """A name of its own for what is to become the file `name`; what dies on the way there is swept up later."""
    return f".{name}.{os.getpid()}.{secrets.token_hex(4)}"


def _sweep(folder: Path) -> None:
    """Takes away what processes of ours that are gone have left beside the lock and the patch file."""
    for entry in os.listdir(folder):
        if (found := _LEFT.fullmatch(entry)) and _dead(found[1]):
            with suppress(OSError):
                (folder / entry).unlink()


@contextmanager
def _among_us(folder: Path, path: Path, end: float) -> Iterator[bool]:
    """Holds the folder among us; False where the file system has no such thing."""
    alone = True
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                _wait(path, end)
            except OSError:  # a file system without it: the lock file alone has to do
                alone = False
                break
        yield alone
    finally:
        os.close(descriptor)


def _take(path: Path, mine: Path, end: float, *, alone: bool) -> None:
    while True:
        try:
            os.link(mine, path)
            return
        except FileExistsError:
            content = _read(path)
            # of us only one is here: with our own number it is of a killed one before, as in a container started again
            if _dead(content) or (alone and _pid(content) == os.getpid()):
                path.unlink(missing_ok=True)
            else:
                _wait(path, end)


def _wait(path: Path, end: float) -> None:
    if time.monotonic() >= end:
        raise Locked(path, _pid(_read(path)))
    time.sleep(_STEP)


def _same(path: Path, mine: Path) -> bool:
    try:
        return os.path.samefile(path, mine)
    except FileNotFoundError:
        return False


def _read(path: Path) -> str | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
        return os.read(descriptor, _LONGEST).decode("ascii", "replace") if regular else None
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _pid(content: str | None) -> int | None:
    text = (content or "").strip()
    return int(text) if text.isascii() and text.isdigit() and 0 < int(text) < 1 << 31 else None


def _dead(content: str | None) -> bool:
    """Whether the process it names is gone. A lock that names none, or one we may not ask about, counts as living."""
    pid = _pid(content)
    if pid is None:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
