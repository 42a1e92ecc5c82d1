"""Django's cache in files, with counting as Redis does it: an entry that is counted up keeps its end, and no count is lost.

Django's own `incr` of a file reads, adds and writes: the entry then lives for the default five minutes whatever its end was,
and two processes that count at once count once. The limits of `access.services.attempts` would be neither a quarter of an
hour nor ten tries; `access.services.once` needs an `add` that one caller alone wins.
"""

from __future__ import annotations

import pickle
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.filebased import FileBasedCache

from dshweb.locks import alone


class FileCache(FileBasedCache):
    _dir: str

    def add(self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        with self._alone():
            return bool(super().add(key, value, timeout, version))

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        """Raises ValueError for a key that is not there. Also what `decr` uses."""
        with self._alone():
            before = self.get(key, None, version)
            if before is None:
                raise ValueError(f"Key {key!r} not found")
            end = self._end(self._key_to_file(key, version))  # type: ignore[attr-defined]
            self.set(key, before + delta, None if end is None else max(0, end - time.time()), version)
        return int(before + delta)

    def _end(self, path: str) -> float | None:
        """When the entry ends, in seconds since 1970; None: never. It stands before the value (FileBasedCache)."""
        try:
            with open(path, "rb") as stream:
                found: float | None = pickle.load(stream)  # noqa: S301 (a file of our own, as Django reads it)
        except FileNotFoundError:  # it ended this moment
            return 0
        return found

    def _alone(self) -> AbstractContextManager[None]:
        self._createdir()  # type: ignore[attr-defined]
        return alone(Path(self._dir, "lock"))
