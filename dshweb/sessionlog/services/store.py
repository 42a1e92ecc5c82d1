"""The log store: bytes of session logs exactly as they came, append-only, outside the database.

Uses Django's storage API (`STORAGES["logs"]`). A storage with local paths is appended to in place; another one (S3) gets the grown
log saved anew. Writing the same bytes twice at the same place is harmless, which is what makes an interrupted import repeatable.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from django.core.files import File
from django.core.files.storage import Storage, storages

CHUNK = 1 << 20


def _storage() -> Storage:
    return storages["logs"]


def new_name(*, team_id: int, file_name: str) -> str:
    """A fresh name. It holds nothing that came from outside but the file's ending."""
    ending = ".jsonl.zstd" if file_name.endswith(".zstd") else ".jsonl"
    key = uuid.uuid4().hex
    return f"team-{team_id}/{key[:2]}/{key}{ending}"


@contextmanager
def opened(name: str) -> Iterator[BinaryIO]:
    with _storage().open(name, "rb") as stream:
        yield cast(BinaryIO, getattr(stream, "file", stream))


def size(name: str) -> int:
    """Bytes stored under `name`; 0 when there is nothing yet."""
    storage = _storage()
    return storage.size(name) if storage.exists(name) else 0


def local_path(name: str) -> Path | None:
    """Where `name` lies on this machine's disk; None for a storage without paths."""
    try:
        return Path(_storage().path(name))
    except NotImplementedError:
        return None


def delete(name: str) -> None:
    _storage().delete(name)


def names() -> Iterator[str]:
    """Every file of the store, two folders deep (`new_name`)."""
    storage = _storage()
    for team in storage.listdir("")[0] if storage.exists("") else ():
        for part in storage.listdir(team)[0]:
            for name in storage.listdir(f"{team}/{part}")[1]:
                yield f"{team}/{part}/{name}"


def append(name: str, source: BinaryIO, *, start: int, stop: int) -> int:
    """Copies bytes `start` … `stop` of `source` to the same place in `name`; returns where that ended.

    Two processes that copy the same log write the same bytes at the same offsets. What was stored behind `stop` before is of
    a tail that its writer has taken back, and is cut off.
    """
    storage = _storage()
    try:
        path = storage.path(name)
    except NotImplementedError:
        return _replace(storage, name, source, stop=stop)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        before = os.fstat(handle).st_size
        source.seek(start)
        at = start
        while at < stop:
            chunk = source.read(min(CHUNK, stop - at))
            if not chunk:
                break  # the source shrank under us; the next look at it will notice
            view = memoryview(chunk)
            while view:
                written = os.pwrite(handle, view, at)
                at += written
                view = view[written:]
        if before > stop:
            os.ftruncate(handle, stop)
        return at
    finally:
        os.close(handle)


def _replace(storage: Storage, name: str, source: BinaryIO, *, stop: int) -> int:
    source.seek(0)
    if storage.exists(name):
        storage.delete(name)
    storage.save(name, File(cast(BinaryIO, _Limited(source, stop))))
    return storage.size(name)


class _Limited:
    """The first `stop` bytes of a stream, for storages that save whole files."""

    def __init__(self, source: BinaryIO, stop: int) -> None:
        self._source, self._left, self.size = source, stop, stop

    def read(self, amount: int = -1) -> bytes:
        data = self._source.read(self._left if amount < 0 else min(amount, self._left))
        self._left -= len(data)
        return data

    def seek(self, offset: int, whence: int = 0) -> int:
        if (offset, whence) != (0, 0):
            raise OSError("only back to the start")
        self._left = self.size
        return self._source.seek(0)


def starts_with(source: BinaryIO, name: str, *, length: int, start: int = 0) -> bool:
    """Whether bytes `start` … `length` of `source` are those stored under `name`. No, when nothing is stored (any more)."""
    if length <= start:
        return True
    if not _storage().exists(name):
        return False
    source.seek(start)
    with opened(name) as stored:
        stored.seek(start)
        left = length - start
        while left:
            ours, theirs = stored.read(min(CHUNK, left)), source.read(min(CHUNK, left))
            if ours != theirs or not ours:
                return False
            left -= len(ours)
    return True
