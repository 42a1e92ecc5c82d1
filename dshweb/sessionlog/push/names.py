"""What logs are called on the server: the folder a log lies in, and its file name. The same on every run, without notes.

A session has a folder of its own in a DSH home, so that is enough. Where two logs would be called the same, all of them get a
mark made of the path below the folder that was named.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from dshweb.text.lines import storable_name

LENGTH = 180


class Names:
    """Names once given stay while the process lives: a log that appears later must not take over another one's."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))
        self._given: dict[Path, tuple[str, str]] = {}

    def learn(self, logs: Iterable[Path]) -> None:
        """Names those of `logs` that have none yet."""
        fresh = [path for path in logs if path not in self._given]
        plain = {path: _plain(path) for path in fresh}
        taken = Counter([*self._given.values(), *plain.values()])
        for path in fresh:
            folder, name = plain[path]
            self._given[path] = (folder, name) if taken[plain[path]] == 1 else (f"{folder}~{self._mark(path)}", name)

    def of(self, path: Path) -> tuple[str, str]:
        """Folder and file name. An unknown log is named now."""
        if path not in self._given:
            self.learn([path])
        return self._given[path]

    def _mark(self, path: Path) -> str:
        below = os.fsencode(os.path.relpath(path, self.root if self.root.is_dir() else self.root.parent))
        return hashlib.sha256(below).hexdigest()[:8]


def _plain(path: Path) -> tuple[str, str]:
    folder = _fit(path.parent.name) or "logs"
    return folder, _fit(path.name)


def _fit(name: str) -> str:
    """A name as the server stores it: nothing that is a separator somewhere, no blank at an end, not too long."""
    if "\\" in name or name != name.strip() or name in (".", ".."):
        name = name.strip().replace("\\", "_") + "~" + hashlib.sha256(os.fsencode(name)).hexdigest()[:8]
    return storable_name(name, LENGTH)
