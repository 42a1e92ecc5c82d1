"""Where bytes that were sent here lie until they are in the log store: `uploads/` in the data folder.

    uploads/whole/<key>        one file as it was handed in; gone once it is imported (services.uploads)
    uploads/whole/<key>.part   the same while it still comes in
    uploads/pieces/<key>       what a collector sent of a log that is not in the store yet (services.pieces)
    uploads/locks/<nn>         one sender at a time for a log; held by the kernel, so a killed process holds none
    uploads/imports/<nn>       one import at a time of the files handed in for a place; never waited for by a page

No name that came from outside is ever part of a path here. Web processes and workers share the folder.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, BinaryIO
from uuid import uuid4

from django.conf import settings
from django.utils.translation import gettext as _

from dshweb.locks import alone

CHUNK = 1 << 20
# what must stay free on the disk, whatever is sent: the database and its journal live there too
DISK_RESERVE = 512 << 20
LOOK_EVERY = 8 << 20
IN_MEMORY = 1 << 20
LOCKS = 64


class Refused(Exception):
    """Bytes that are not taken. `code` as in the API's errors; the message says what was kept and what to do."""

    def __init__(self, status: int, code: str, message: str, **detail: int | str) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.detail = status, code, message, detail


def folder(name: str) -> Path:
    found = Path(settings.DATA_DIR) / "uploads" / name
    found.mkdir(parents=True, exist_ok=True, mode=0o700)
    return found


def too_large() -> Refused:
    most = settings.MAX_UPLOAD_BYTES
    return Refused(
        413, "logs/too-large", _("Larger than the %(most)s bytes this server takes; nothing of it was kept.") % {"most": most},
        most=most,
    )  # fmt: skip


def cut_off() -> Refused:
    return Refused(
        400, "logs/cut-off", _("The connection ended before the file did; nothing of it was kept. Send it again.")
    )


def need_room(wanted: int = 0) -> None:
    """Raises Refused when `wanted` more bytes would leave too little of the disk."""
    if shutil.disk_usage(folder("")).free - wanted < DISK_RESERVE:
        raise Refused(
            507,
            "logs/disk-full",
            _("The server's disk has no room for it; nothing of it was kept. Tell whoever runs the server."),
        )


class Incoming:
    """One file that comes in: written as it arrives, counted, digested. Ends with `finish` or `discard`."""

    def __init__(self) -> None:
        need_room()
        self.key = uuid4().hex
        self.size = 0
        self._digest = hashlib.sha256()
        self._path = folder("whole") / f"{self.key}.part"
        self._stream: IO[bytes] | None = self._path.open("xb")
        self._looked = 0

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()

    def write(self, chunk: bytes) -> None:
        """Raises Refused, and keeps nothing then."""
        try:
            self._write(chunk)
        except OSError:  # the disk filled up under us
            self.discard()
            need_room(CHUNK)
            raise
        except Refused:
            self.discard()
            raise

    def _write(self, chunk: bytes) -> None:
        if self._stream is None:
            raise cut_off()
        self.size += len(chunk)
        if self.size > settings.MAX_UPLOAD_BYTES:
            raise too_large()
        if self.size - self._looked >= LOOK_EVERY:
            self._looked = self.size
            need_room(LOOK_EVERY)
        self._stream.write(chunk)
        self._digest.update(chunk)

    def finish(self) -> Path:
        """On disk for good, under its final name."""
        if self._stream is None:
            raise cut_off()
        self._stream.flush()
        os.fsync(self._stream.fileno())
        self._stream.close()
        self._stream = None
        final = self._path.with_suffix("")
        self._path.rename(final)
        sync(final.parent)
        return final

    def discard(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None
            self._path.unlink(missing_ok=True)


def body_of(read: BinaryIO, length: int) -> IO[bytes]:
    """A request's body of `length` bytes, whole, in a file that vanishes with this process. Raises Refused (cut off)."""
    body = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY, dir=str(folder("whole")))  # noqa: SIM115
    left = length
    while left:
        chunk = read.read(min(CHUNK, left))
        if not chunk:
            body.close()
            raise cut_off()
        body.write(chunk)
        left -= len(chunk)
    body.seek(0)
    return body


def locked(team: int, location: str, among: str = "locks") -> AbstractContextManager[None]:
    """Waits until nobody else, in any process, holds the lock of the place (some share one) in the folder `among`."""
    number = hashlib.sha256(f"{team} {location}".encode("utf-8", "surrogatepass")).digest()[0] % LOCKS
    return alone(folder(among) / f"{number:02}")


def sync(path: Path) -> None:
    """Puts a file or a folder on disk for good; a file's name is there only when its folder is."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
