"""Finds session logs below a path. Links that lead out of the given folder are never followed; they are counted.

A DSH home is a folder with `sessions/`; any other folder is walked whole, every file named like a session log counts.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dshweb.sessionlog.core.generations import is_log_name


@dataclass
class Found:
    """Logs in a stable order, what was passed over by reason, and whether a folder was asked for."""

    logs: list[Path] = field(default_factory=list)
    skipped: dict[str, int] = field(default_factory=dict)
    folder: bool = False

    def skip(self, reason: str) -> None:
        self.skipped[reason] = self.skipped.get(reason, 0) + 1


def find_logs(path: Path) -> Found:
    """Logs at or below `path` (absolute paths, sorted). Raises FileNotFoundError when there is nothing at `path`."""
    found = Found()
    root = Path(os.path.realpath(path))  # the given path itself may be a link: the caller named it
    try:
        os.stat(root)
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(path) from None
    except OSError:  # behind a folder that may not be entered, or a name too long: listed as a file that failed
        pass
    if not _is_folder(root):
        # named by hand: listed whatever its name and kind; the reader says what it is, or why it cannot be read
        found.logs.append(root)
        return found
    found.folder = True
    sessions = root / "sessions"
    found.logs.extend(_walk(sessions if _is_folder(sessions) and not sessions.is_symlink() else root, found))
    return found


def _is_folder(path: Path) -> bool:
    """False also for what is not there or may not be looked at."""
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except OSError:
        return False


def _walk(folder: Path, found: Found) -> Iterator[Path]:
    pending = [folder]
    while pending:
        here = pending.pop()
        try:
            with os.scandir(here) as entries:
                listing = sorted(entries, key=lambda entry: entry.name, reverse=True)
        except OSError:
            found.skip("unreadable_folder")
            continue
        files: list[Path] = []
        for entry in listing:
            if entry.is_symlink():
                found.skip("link")
            elif entry.is_dir(follow_symlinks=False):
                pending.append(Path(entry.path))
            elif entry.is_file(follow_symlinks=False) and is_log_name(entry.name):
                files.append(Path(entry.path))
            else:
                found.skip("not_a_log")
        yield from reversed(files)
