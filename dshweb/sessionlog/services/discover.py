"""Finds session logs below a path. Links that lead out of the given folder are never followed; they are counted.

A DSH home is a folder with `sessions/`; any other folder is walked whole, every file named like a session log counts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dshweb.sessionlog.core.generations import is_log_name


@dataclass
class Found:
    """Logs in a stable order, and what was passed over, by reason."""

    logs: list[Path] = field(default_factory=list)
    skipped: dict[str, int] = field(default_factory=dict)

    def skip(self, reason: str) -> None:
        self.skipped[reason] = self.skipped.get(reason, 0) + 1


def find_logs(path: Path) -> Found:
    """Logs at or below `path` (absolute paths, sorted). Raises FileNotFoundError when there is nothing at `path`."""
    found = Found()
    root = Path(os.path.realpath(path))  # the given path itself may be a link: the caller named it
    if not root.exists():
        raise FileNotFoundError(path)
    if not root.is_dir():
        found.logs.append(root)  # named by hand: read whatever its name is, the reader says what it is
        return found
    start = root / "sessions" if (root / "sessions").is_dir() and not (root / "sessions").is_symlink() else root
    found.logs.extend(_walk(start, found))
    return found


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
