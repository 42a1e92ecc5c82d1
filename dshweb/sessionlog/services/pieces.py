"""Logs that a collector sends piece by piece (`PUT /api/v1/logs/<session>/<name>?offset=N`), one place a person and log.

The size of what is here is the only state, and the bytes themselves are it: the log in the store once it is imported, before
that a file of the inbox (`uploads/pieces/`). If the inbox has one, that one counts.

A request is all or nothing: its body is received whole before anything is written, so a broken connection leaves what was there.
Writers of one log take turns. A process killed while it writes leaves the first bytes of the piece; the sender asks for the size
and goes on there. Bytes are on disk when the call answers. A sender whose file was written anew says so (`cut`): what stands
behind the offset goes, and the import makes of it what it makes of a local file written anew. `before` guards every piece: the
digest of the bytes that stand before its offset, so that pieces of different files never end up in one log.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.utils.translation import gettext as _

from dshweb.access.models import Team, User
from dshweb.sessionlog.models import DELETED, LogFile, SourceFile
from dshweb.sessionlog.push.agreed import BEFORE_BYTES as BEFORE_BYTES
from dshweb.sessionlog.push.agreed import digest, digest_before
from dshweb.sessionlog.services import inbox, sent, store, uploads
from dshweb.sessionlog.services.files import Stat
from dshweb.sessionlog.services.inbox import Refused
from dshweb.sessionlog.services.ingest import Import, ingest_stored, ingest_stream
from dshweb.sessionlog.services.report import LogReport
from dshweb.sessionlog.services.seen import place_at, shown_elsewhere
from dshweb.sessionlog.services.steps import OnProgress
from dshweb.tasks.models import Task
from dshweb.tasks.services import enqueue

KIND = "push"
PIECE_BYTES = 64 << 20


@dataclass(frozen=True)
class Place:
    """Where one person's sending of one log ends up."""

    team: Team
    user: User
    folder: str
    name: str

    @classmethod
    def of(cls, team: Team, user: User, folder: str, name: str) -> Place:
        """Raises Refused for parts that name nothing."""
        return cls(team, user, uploads.clean_name(folder), uploads.clean_name(name))

    @property
    def location(self) -> str:
        return sent.location(sent.PUSH, self.user, self.folder, self.name)

    @property
    def waiting(self) -> Path:
        return waiting_file(self.team.pk, self.location)

    def row(self) -> SourceFile | None:
        return _rows().filter(team=self.team, location=self.location).first()


def _rows() -> Any:
    return SourceFile.unscoped.select_related("log").defer("report", "log__state", "log__header", "log__accounting")


def waiting_file(team: int, location: str) -> Path:
    key = hashlib.sha256(f"{team} {location}".encode("utf-8", "surrogatepass")).hexdigest()[:40]
    return inbox.folder("pieces") / key


@dataclass(frozen=True)
class Here:
    """What is here of a log: `size` bytes at `path` (None: nothing yet). `stored`: that is the log in the store."""

    path: Path | None
    size: int
    stored: bool = False


def _here(waiting: Path, log: LogFile | None) -> Here:
    with suppress(FileNotFoundError):
        return Here(waiting, waiting.stat().st_size)
    path = store.local_path(log.stored) if log else None
    if path is None:
        return Here(None, 0)
    with suppress(FileNotFoundError):
        return Here(path, path.stat().st_size, stored=True)
    return Here(None, 0)


@contextmanager
def _held(place: Place) -> Iterator[tuple[SourceFile | None, Here]]:
    """What is here, with nobody else writing to it. Raises Refused for a log that was deleted here."""
    with inbox.locked(place.team.pk, place.location):
        row = place.row()
        if row is not None and row.status == DELETED:
            raise Refused(
                410, "logs/deleted",
                _("This log was deleted here and stays so until somebody asks for it; nothing was kept."),
            )  # fmt: skip
        yield row, _here(place.waiting, row.log if row else None)


def look(place: Place, first: int | None = None) -> tuple[int, int | None, str | None]:
    """The size of what is here; with `first` also how many of the first bytes were digested, and their SHA-256."""
    with _held(place) as (_row, here):
        if first is None:
            return here.size, None, None
        count = min(first, here.size)
        if here.path is None:
            return here.size, count, hashlib.sha256().hexdigest()
        with here.path.open("rb") as source:
            return here.size, count, digest(source, 0, count)


def append(
    place: Place, body: IO[bytes], length: int, *, offset: int, before: str | None = None, cut: bool = False
) -> int:
    """Writes one piece; the size that is here then. Raises Refused (`logs/offset` and `logs/different` with the size)."""
    if offset + length > settings.MAX_UPLOAD_BYTES:
        raise inbox.too_large()
    if length:
        uploads.need_patience(place.team, place.user)
        inbox.need_room(length)
    with _held(place) as (row, here):
        _check(here, offset, length, before=before, cut=cut)
        if length:
            row = row or place_at(place.team, place.location)
            # unread from now on, whatever happens to this process
            SourceFile.unscoped.filter(pk=row.pk).update(size=None)
            path = _writable(place, row, here, offset)
            _write(path, body, offset)
        size = offset + length
    if row is not None and (length or row.size != size):
        request_reading(row, place.user)
    return size


def _check(here: Here, offset: int, length: int, *, before: str | None, cut: bool) -> None:
    if offset > here.size or (offset < here.size and not cut):
        raise Refused(
            409, "logs/offset", _("%(size)d bytes of it are here; go on from there. Nothing was changed.") % {"size": here.size},
            size=here.size,
        )  # fmt: skip
    if cut and offset < here.size and (not length or (offset and before is None)):
        raise Refused(
            422, "logs/cut", _("To replace what is here, send what comes instead and the digest of what stands before it."),
            size=here.size,
        )  # fmt: skip
    if before is None or here.path is None:
        return
    with here.path.open("rb") as source:
        same = before.lower() == digest_before(source, offset)
    if not same:
        raise Refused(
            409, "logs/different",
            _("What is here differs from what you have; find where, and send the rest anew. Nothing was changed."),
            size=here.size,
        )  # fmt: skip


def _writable(place: Place, row: SourceFile, here: Here, offset: int) -> Path:
    """The file to write to: the store's own if this place alone shows the log and only adds to it, else one of the inbox."""
    if here.path is None:
        place.waiting.touch(mode=0o600)
        inbox.sync(place.waiting.parent)
        return place.waiting
    if here.stored and offset == here.size and not shown_elsewhere(row):
        return here.path
    if not here.stored and offset == here.size:
        return here.path
    draft = place.waiting.with_suffix(".draft")
    with here.path.open("rb") as source, draft.open("wb") as target:
        inbox.need_room(offset)
        left = offset
        while left and (chunk := source.read(min(inbox.CHUNK, left))):
            target.write(chunk)
            left -= len(chunk)
    return draft


def _write(path: Path, body: IO[bytes], offset: int) -> None:
    """No file is made here: a log that is deleted this moment must not come back as a torso."""
    handle = os.open(path, os.O_WRONLY)
    with os.fdopen(handle, "wb") as target:
        target.seek(offset)
        shutil.copyfileobj(body, target, inbox.CHUNK)
        target.flush()
        os.fsync(target.fileno())
    if path.suffix == ".draft":
        path.rename(path.with_suffix(""))
        inbox.sync(path.parent)


def request_reading(row: SourceFile, user: User | None) -> Task:
    label = row.location.partition("/")[2]
    return enqueue(row.team_id, KIND, f"place:{row.pk}", {"place": row.pk}, label, user)


def _owner(row: SourceFile) -> User | None:
    number = sent.person(row.location)
    return None if number is None else User.objects.filter(pk=number).first()


def take_in(team: Team, payload: dict[str, Any], on_progress: OnProgress | None = None) -> dict[str, Any]:
    """The task: reads what has arrived at a place until nothing more has. Raises uploads.NotImported.

    What is no log (yet) is no error: more of it may come. Its place says so.
    """
    name = ""
    while True:
        row = _rows().filter(team=team, pk=payload["place"]).first()
        if row is None:
            return {"name": name, "status": "gone"}
        name = row.location.rpartition("/")[2]
        waiting = waiting_file(team.pk, row.location)
        if row.status == DELETED:
            waiting.unlink(missing_ok=True)
            return {"name": name, "status": DELETED}
        report, read = _read(row, waiting, name, Import.by(team, _owner(row)), on_progress)
        if report.retryable:
            raise uploads.NotImported(f"{name}: {report.damage[0]['detail']}")
        with inbox.locked(team.pk, row.location):
            row = _rows().filter(pk=row.pk).first()
            if row is None or row.status == DELETED or _here(waiting, row.log).size == read:
                return uploads.result_of(report, name, team)


def _read(
    row: SourceFile, waiting: Path, name: str, run: Import, on_progress: OnProgress | None
) -> tuple[LogReport, int]:
    """One reading: the report, and how many bytes it saw."""
    try:
        source = waiting.open("rb")
    except FileNotFoundError:
        here = _here(waiting, row.log)
        return ingest_stored(row, Stat(here.size, 0, ""), run=run, on_progress=on_progress), here.size
    with source:
        size = os.fstat(source.fileno()).st_size
        if row.log is not None and size > row.log.size and shown_elsewhere(row):
            SourceFile.unscoped.filter(pk=row.pk, log=row.log_id).update(log=None)
        place = place_at(run.team, row.location)
        folder = row.location.split("/")[-2]
        report = ingest_stream(
            source, Stat(size, 0, ""), place, file_name=name, folder=folder, run=run, on_progress=on_progress
        )
        _settle(row, waiting, source)
    return report, size


def _settle(row: SourceFile, waiting: Path, source: IO[bytes]) -> None:
    """From here on the store's bytes are what is here, and the inbox's go. Not while another place shows the log."""
    with inbox.locked(row.team_id, row.location):
        fresh = _rows().filter(pk=row.pk).first()
        if fresh is None or fresh.log is None or shown_elsewhere(fresh):
            return
        path = store.local_path(fresh.log.stored)
        try:
            now = waiting.stat()
        except FileNotFoundError:
            return
        ours = os.fstat(source.fileno())
        have = store.size(fresh.log.stored)
        if path is None or now.st_ino != ours.st_ino or have > ours.st_size:
            return  # written anew meanwhile: that is read next
        if have < ours.st_size:
            store.append(fresh.log.stored, source, start=have, stop=ours.st_size)  # type: ignore[arg-type]
        inbox.sync(path)
        waiting.unlink()
