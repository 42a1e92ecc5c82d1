"""One place a log is seen at: is there anything new, and which stored log does it belong to?"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote_to_bytes

from django.db import transaction

from dshweb.access.models import Team, User
from dshweb.sessionlog.models import LogFile, Session, SourceFile
from dshweb.sessionlog.services import store
from dshweb.text.lines import storable


@dataclass(frozen=True)
class Stat:
    """What tells an unchanged file without opening it."""

    size: int
    mtime_ns: int
    inode: str

    @classmethod
    def of(cls, path: Path) -> Stat:
        found = os.stat(path)
        return cls(found.st_size, found.st_mtime_ns, f"{found.st_dev}:{found.st_ino}")


def path_to_text(path: Path) -> str:
    """The absolute path as a text that every database takes; one whose bytes are no text becomes a file: address."""
    whole = path.absolute()
    text = str(whole)
    return text if storable(text).text == text else whole.as_uri()


def text_to_path(text: str) -> Path:
    """Inverse of `path_to_text`."""
    if not text.startswith("file:///"):
        return Path(text)
    return Path(os.fsdecode(unquote_to_bytes(text.removeprefix("file://"))))


def unchanged(place: SourceFile, stat: Stat, *, masking: str) -> bool:
    """Whether the last complete read saw exactly this file, under the masking patterns in force."""
    if place.report is None or (place.size, place.mtime_ns, place.inode) != (stat.size, stat.mtime_ns, stat.inode):
        return False
    return place.log is None or (place.log.complete and place.log.masking == masking)


def still_the_same_log(place: SourceFile, source: BinaryIO, size: int) -> bool:
    """Whether the log this place pointed to is a beginning of what is there now (it may have grown)."""
    log = place.log
    return log is not None and log.size <= size and store.starts_with(source, log.stored, length=log.size)


def same_bytes_elsewhere(*, session: Session, file_name: str, source: BinaryIO, size: int) -> LogFile | None:
    """A complete log of the session with exactly these bytes: a moved or copied file is not a new log."""
    candidates = LogFile.unscoped.filter(session=session, file_name=file_name, size=size, complete=True).order_by("id")
    return next((log for log in candidates if store.starts_with(source, log.stored, length=size)), None)


def session_for(*, team: Team, session_id: str, owner: User | None) -> Session:
    """The session's row; made by whoever comes first. Its owner is whoever brought it first."""
    session, _made = Session.unscoped.get_or_create(team=team, session_id=session_id, defaults={"owner": owner})
    return session


def point_to(place: SourceFile, log: LogFile, *, instead_of: int | None) -> LogFile:
    """Makes `log` the log of this place if the place still points to `instead_of`; returns the log that won.

    A new `log` is saved here, in the same transaction, so that there is never one without a place. The log that was
    replaced is deleted when no other place shows it: its bytes are no longer anywhere to be seen.
    """
    with transaction.atomic():
        made = log.pk is None
        if made:
            log.save()
        won = SourceFile.unscoped.filter(pk=place.pk, log=instead_of).update(log=log)
        if not won:
            if made:
                log.delete()
            place.refresh_from_db()
            if place.log is None:
                raise LogFile.DoesNotExist("the log of this place was deleted while it was being read; read it again")
            return place.log
        place.log = log
        if instead_of is not None and not SourceFile.unscoped.filter(log=instead_of).exists():
            old = LogFile.unscoped.get(pk=instead_of)
            transaction.on_commit(lambda: store.delete(old.stored))
            old.delete()
    return log
