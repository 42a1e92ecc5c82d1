"""One place a log is seen at: is there anything new, and which stored log does it belong to?"""

from __future__ import annotations

import os
import stat as stat_module
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote_to_bytes

from django.db import transaction

from dshweb.access.models import Team, User
from dshweb.sessionlog.models import LogFile, LogStatus, Session, SourceFile
from dshweb.sessionlog.services import fit, sessions, steps, store
from dshweb.text.lines import storable, storable_name


@dataclass(frozen=True)
class Stat:
    """What tells an unchanged file without opening it."""

    size: int
    mtime_ns: int
    inode: str

    @classmethod
    def of(cls, path: Path) -> Stat:
        """Raises OSError when there is no such file or it is none (a pipe would hang whoever opens it)."""
        found = os.stat(path)
        if not stat_module.S_ISREG(found.st_mode):
            raise OSError(f"{path} is not a regular file")
        return cls(found.st_size, found.st_mtime_ns, f"{found.st_dev}:{found.st_ino}")


def path_to_text(path: Path) -> str:
    """The absolute path as a text that every database takes; one whose bytes are no text becomes a file: address."""
    whole = path.absolute()
    text = str(whole)
    return text if storable(text).text == text else whole.as_uri()


def location(path: Path) -> str:
    """What a path is called in the database and in reports: itself, if a database takes it."""
    return storable_name(str(path), 1000)


def text_to_path(text: str) -> Path:
    """Inverse of `path_to_text`."""
    if not text.startswith("file:///"):
        return Path(text)
    return Path(os.fsdecode(unquote_to_bytes(text.removeprefix("file://"))))


def unchanged(place: SourceFile, stat: Stat, *, masking: str) -> bool:
    """Whether the last complete read saw exactly this file, under the masking patterns in force."""
    if place.report is None or (place.size, place.mtime_ns, place.inode) != (stat.size, stat.mtime_ns, stat.inode):
        return False
    if place.log is None:  # nothing in it was a log; or its log was deleted, and it is to be read again
        return place.status == LogStatus.FAILED
    return place.log.complete and place.log.masking == masking


def still_the_same_log(log: LogFile, source: BinaryIO) -> bool:
    """Whether `source` goes on from what was read of `log`. An unfinished tail may have been taken back and written anew, in a
    log that no other place shows.

    Bytes are stored before they are read, so there may be more stored than `log.size`. More than the source has now (asked
    second: it only ever grows) means that it was written anew meanwhile.
    """
    stored = store.size(log.stored)
    now = source.seek(0, os.SEEK_END)
    if max(log.size, stored) <= now and store.starts_with(source, log.stored, length=log.size or stored):
        return True
    whole = steps.settled(log)
    if not 0 < whole <= now or not store.starts_with(source, log.stored, length=whole):
        return False
    return SourceFile.unscoped.filter(log=log).count() == 1


def same_bytes_elsewhere(*, team: Team, session_id: str, file_name: str, source: BinaryIO, size: int) -> LogFile | None:
    """A complete log of the session with exactly these bytes: a moved or copied file is not a new log."""
    candidates = LogFile.unscoped.filter(
        session__team=team, session__session_id=session_id, file_name=file_name, size=size, complete=True
    ).only("id", "stored").order_by("id")  # fmt: skip
    return next((log for log in candidates if store.starts_with(source, log.stored, length=size)), None)


def new_log(*, team: Team, session_id: str, file_name: str, owner: User | None) -> LogFile:
    """A log of which nothing is read yet; its session is made with it, inside the caller's transaction."""
    session = session_for(team=team, session_id=session_id, owner=owner)
    if not Session.unscoped.select_for_update().filter(pk=session.pk).exists():  # went with its last log this moment
        session = session_for(team=team, session_id=session_id, owner=owner)
    stored = store.new_name(team_id=team.pk, file_name=file_name)
    return LogFile.unscoped.create(team=team, session=session, file_name=fit.short(file_name, 255), stored=stored)


def session_for(*, team: Team, session_id: str, owner: User | None) -> Session:
    """The session's row; made by whoever comes first. Its owner is whoever brought it first."""
    session, _made = Session.unscoped.get_or_create(team=team, session_id=session_id, defaults={"owner": owner})
    return session


class _Lost(Exception):
    """Another importer gave the place a log first."""


def point_to(place: SourceFile, log: LogFile | Callable[[], LogFile], *, instead_of: int | None) -> LogFile:
    """Makes `log` the log of this place if the place still points to `instead_of`; returns the log that won.

    A new log is made here by calling `log`, in the same transaction, so that there is never one without a place. The log that
    was replaced is deleted when no other place shows it: its bytes are no longer anywhere to be seen.
    """
    try:
        with transaction.atomic():
            ours = log() if callable(log) else log
            if not SourceFile.unscoped.filter(pk=place.pk, log=instead_of).update(log=ours):
                raise _Lost
            if instead_of is not None:
                _forget(instead_of)
    except _Lost:
        place.refresh_from_db()
        if place.log is None:
            raise LogFile.DoesNotExist(
                "the log of this place was deleted while it was being read; read it again"
            ) from None
        return place.log
    place.log = ours
    return ours


def _forget(pk: int) -> None:
    """Deletes a log that no place shows, with its bytes; its session then shows another one, or goes with it.

    The row is locked before it is asked who shows it: an importer that has just found it has it then, or waits.
    """
    old = LogFile.unscoped.select_for_update().only("id", "stored", "session_id").filter(pk=pk).first()
    if old is None or SourceFile.unscoped.filter(log=pk).exists():
        return
    stored, session = old.stored, old.session_id
    transaction.on_commit(lambda: store.delete(stored))
    old.delete()
    sessions.refresh(session)
