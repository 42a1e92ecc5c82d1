"""Whole logs handed in by page or API: kept on disk, then imported by a worker, one task a file.

A place is a person's (services.sent), so a later copy of the same session goes on where the first ended.
Nothing that was handed in is ever replaced: bytes that do not go on from those at the place get a place of their own, and both
stay as logs of the session. What a log of somebody else shows is never appended to.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.utils.translation import gettext as _

from dshweb.access.models import Team, User
from dshweb.sessionlog.models import DELETED, SourceFile
from dshweb.sessionlog.services import inbox, sent, store
from dshweb.sessionlog.services.files import Stat
from dshweb.sessionlog.services.inbox import Incoming, Refused
from dshweb.sessionlog.services.ingest import Import, ingest_stream, session_named
from dshweb.sessionlog.services.report import LogReport
from dshweb.sessionlog.services.seen import place_at, shown_elsewhere
from dshweb.sessionlog.services.steps import OnProgress
from dshweb.tasks.models import OPEN, Task
from dshweb.tasks.services import enqueue
from dshweb.text.lines import storable_name

KIND = "upload"
KINDS = (KIND, "push")  # services.pieces asks for the second
# tasks of one person that wait: who sends faster than a worker reads has to pause
MOST_WAITING = 200
PAUSE_SECONDS = 10
NAME_LENGTH = 200
_KEY = re.compile(r"[0-9a-f]{32}")


class NotALog(Exception):
    """What was handed in cannot be read as a session log."""


class NotImported(Exception):
    """The import failed for a reason of this machine's; it may be tried again."""


@dataclass(frozen=True)
class Received:
    """A file that is on disk here; `task` imports it."""

    name: str
    size: int
    sha256: str
    task: Task


def clean_name(name: str | None) -> str:
    """The last part of a file's name, as it may be stored. Raises Refused for a name that names nothing."""
    last = re.split(r"[/\\]", name or "")[-1].strip()
    if last in ("", ".", ".."):
        raise Refused(422, "logs/name", _("The file has no name; give one, such as session.v4.jsonl.zstd."))
    return storable_name(last, NAME_LENGTH)


def need_patience(team: Team, user: User) -> None:
    """Raises Refused when too much of this person's waits already."""
    waiting = Task.unscoped.filter(team=team, kind__in=KINDS, state__in=OPEN, created_by=user)
    if waiting[: MOST_WAITING + 1].count() > MOST_WAITING:
        raise Refused(
            429, "logs/busy", _("%(n)d files of yours still wait to be read; go on in some seconds.") % {"n": MOST_WAITING},
            retry_after=PAUSE_SECONDS,
        )  # fmt: skip


def receive(read: BinaryIO, length: int, name: str | None, *, team: Team, user: User) -> Received:
    """Takes one file of `length` bytes from `read`. Raises Refused."""
    clean_name(name)
    if length > settings.MAX_UPLOAD_BYTES:
        raise inbox.too_large()
    need_patience(team, user)
    inbox.need_room(length)
    incoming = Incoming()
    try:
        while incoming.size < length:
            chunk = read.read(min(inbox.CHUNK, length - incoming.size))
            if not chunk:
                raise inbox.cut_off()
            incoming.write(chunk)
        return accept(incoming, name, team=team, user=user)
    finally:
        incoming.discard()


def accept(incoming: Incoming, name: str | None, *, team: Team, user: User) -> Received:
    """Asks for the import of a file that came in whole. Raises Refused."""
    cleaned = clean_name(name)
    if not incoming.size:
        raise Refused(422, "logs/empty", _("The file is empty."))
    need_patience(team, user)
    incoming.finish()
    payload = {
        "file": incoming.key, "name": cleaned, "owner": user.pk, "size": incoming.size, "sha256": incoming.sha256,
    }  # fmt: skip
    task = enqueue(team, KIND, incoming.key, payload, cleaned, user)
    return Received(cleaned, incoming.size, incoming.sha256, task)


def take_in(team: Team, payload: dict[str, Any], on_progress: OnProgress | None = None) -> dict[str, Any]:
    """The task of one file: imports it and says what became of it. Raises NotALog, NotImported."""
    name, key = str(payload["name"]), str(payload["file"])
    path = inbox.folder("whole") / key
    owner = User.objects.filter(pk=payload["owner"]).first()
    if not _KEY.fullmatch(key) or not path.exists():
        raise NotImported(f"{name}: its bytes are no longer kept here; hand it in again")
    if owner is None:
        raise NotImported(f"{name}: the person who handed it in has no account any more")
    run = Import.by(team, owner)
    with path.open("rb") as source:
        report = _import(source, path, payload, run, on_progress)
    if report.status == "failed":
        _explain(report, name, path)
    path.unlink(missing_ok=True)
    return result_of(report, name, team)


def _import(
    source: BinaryIO, path: Path, payload: dict[str, Any], run: Import, on_progress: OnProgress | None
) -> LogReport:
    name, digest = str(payload["name"]), str(payload["sha256"])
    folder = session_named(source, name) or digest[:12]
    location = sent.location(sent.UPLOAD, run.owner, folder, name)  # type: ignore[arg-type]
    # what is there is looked at and added to in turn: another worker may have another file for the same place
    with inbox.locked(run.team.pk, location, among="imports"):
        place = place_at(run.team, location)
        return _import_at(place, source, path, payload, run, folder, on_progress)


def _import_at(
    place: SourceFile, source: BinaryIO, path: Path, payload: dict[str, Any], run: Import, folder: str,
    on_progress: OnProgress | None,
) -> LogReport:  # fmt: skip
    name, digest = str(payload["name"]), str(payload["sha256"])
    how = _how_it_goes_on(place, source, payload["size"])
    if how == "nothing new":
        return LogReport.from_json(place.report or {}, path=place.location, changed=False)
    if how == "something else":
        place = place_at(run.team, f"{place.location}~{digest[:12]}")
    # handed in again after it was deleted: that is how one asks for it
    SourceFile.unscoped.filter(pk=place.pk, status=DELETED).update(status="")
    # only what tells this read from another one: the file is gone afterwards
    stat = Stat(int(payload["size"]), path.stat().st_mtime_ns, "")
    return ingest_stream(source, stat, place, file_name=name, folder=folder, run=run, on_progress=on_progress)


def _how_it_goes_on(place: SourceFile, source: BinaryIO, size: int) -> str:
    if place.log is None:
        return "new"
    stored = store.size(place.log.stored)
    if size <= stored:
        same = store.starts_with(source, place.log.stored, length=size)
        if same and size < stored and place.report:
            return "nothing new"
        return "same" if same and size == stored else "something else"
    alone = not shown_elsewhere(place)
    return "more" if alone and store.starts_with(source, place.log.stored, length=stored) else "something else"


def _explain(report: LogReport, name: str, path: Path) -> None:
    reason = f"{name}: {report.why(3)}"
    if report.retryable:
        raise NotImported(reason)
    path.unlink(missing_ok=True)
    raise NotALog(reason)


def result_of(report: LogReport, name: str, team: Team) -> dict[str, Any]:
    """What the task's row keeps: which log and session it became, and the report that `ingest --json` prints."""
    place = (
        SourceFile.unscoped.select_related("log")
        .filter(team=team, location=report.path)
        .only("log__session_id")
        .first()
    )
    log = place.log if place else None
    return {
        "name": name, "status": report.status, "changed": report.changed, "log": log.pk if log else None,
        "session": log.session_id if log else None, "report": report.to_json(),
    }  # fmt: skip
