"""Brings logs in: a file, a folder, a whole DSH home. One bad file fails alone, named, with its reason, and is listed."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from django.db.models import F

from dshweb.access.models import Team, User
from dshweb.sessionlog.core.reader import read_log
from dshweb.sessionlog.models import DELETED, LogFile, SourceFile
from dshweb.sessionlog.services import crew, files, seen, sources, steps, store
from dshweb.sessionlog.services.discover import find_logs
from dshweb.sessionlog.services.files import Stat
from dshweb.sessionlog.services.masking import masker_for
from dshweb.sessionlog.services.report import LogReport, Totals
from dshweb.sessionlog.signals import MACHINE, tell_imported
from dshweb.tasks.progress import Stop
from dshweb.text.lines import storable_name
from dshweb.text.redact import Masker

log_ = logging.getLogger(__name__)

OnReport = Callable[[LogReport], None]


@dataclass(frozen=True)
class Import:
    """Who brings logs in. `inline`: what follows an import (the audit) is done in this process, not enqueued."""

    team: Team
    owner: User | None
    masker: Masker
    inline: bool = False

    @classmethod
    def by(cls, team: Team, owner: User | None, *, inline: bool = False) -> Import:
        return cls(team, owner, masker_for(team.pk), inline)


def ingest_path(
    path: Path, *, run: Import, totals: Totals, on_report: OnReport | None = None,
    on_progress: Callable[[Path, int, int], None] | None = None, processes: int = 1,
) -> None:  # fmt: skip
    """Imports every log at or below `path` and adds to `totals`. Raises FileNotFoundError when nothing is there.

    With more than one of `processes`, logs that are worth it are read by forked helpers, which see what is committed only
    and know of no other threads of this process.
    """
    try:
        found = find_logs(path)
    except FileNotFoundError:
        sources.vanished(run.team.pk, path)
        raise
    if found.folder:
        sources.scanned(run.team.pk, path, found, owner=run.owner)
    totals.pass_over(found.skipped.items())
    logs = found.logs
    known = seen.known_places(run.team, [files.location(log) for log in logs])

    def one(n: int, progress: steps.OnProgress) -> LogReport:
        return ingest_file(logs[n], run=run, place=known.get(files.location(logs[n])), on_progress=progress)

    def step(n: int, done: int, total: int) -> None:
        if on_progress:
            on_progress(logs[n], done, total)

    if processes > 1 and crew.may_fork() and _worth_helpers(logs, known, run):
        reports = crew.in_order(len(logs), one, processes=processes, on_progress=step)
    else:
        reports = (one(n, partial(step, n)) for n in range(len(logs)))
    for report in reports:
        totals.add(report)
        if on_report:
            on_report(report)


def _worth_helpers(logs: list[Path], known: dict[str, SourceFile], run: Import) -> bool:
    """Whether there are two logs or more to read, and enough in them."""
    count = size = 0
    for file in logs:
        place = known.get(files.location(file))
        try:
            stat = Stat.of(file)
        except OSError:
            continue
        if place is None or not files.unchanged(place, stat, masking=run.masker.version):
            count, size = count + 1, size + stat.size
        if count > 1 and size >= crew.LEAST_BYTES:
            return True
    return False


def ingest_file(
    path: Path, *, run: Import, place: SourceFile | None = None, on_progress: steps.OnProgress | None = None
) -> LogReport:
    """Imports one log. Never raises for what the file holds or how it fares: the report says it."""
    location = files.location(path)
    try:
        stat = Stat.of(path)
        if place is not None and files.unchanged(place, stat, masking=run.masker.version):
            return LogReport.from_json(place.report or {}, path=location, changed=False)
        if place is None:
            place = seen.place_at(run.team, location)
        if place.status == DELETED:
            return LogReport(path=location, status=DELETED, changed=False)
        with path.open("rb") as source:
            return _read(
                place, source, stat, file_name=path.name, folder=path.parent.name, run=run, on_progress=on_progress
            )
    except Stop:  # the task that runs this was cancelled, or its process ends
        raise
    except Exception as error:  # one bad file fails alone
        return _trouble(error, place, location, run)


def ingest_stream(
    source: BinaryIO, stat: Stat, place: SourceFile, *, file_name: str, folder: str, run: Import,
    on_progress: steps.OnProgress | None = None,
) -> LogReport:  # fmt: skip
    """Imports a log that was sent here, not found here; `stat` tells this sending from another. Else as `ingest_file`."""
    try:
        return _read(place, source, stat, file_name=file_name, folder=folder, run=run, on_progress=on_progress)
    except Stop:
        raise
    except Exception as error:
        return _trouble(error, place, place.location, run)


def ingest_stored(
    place: SourceFile, stat: Stat, *, run: Import, on_progress: steps.OnProgress | None = None
) -> LogReport:
    """Reads what was appended to the stored log of `place` itself (services.pieces). Else as `ingest_file`."""
    try:
        if place.log is None:
            raise LogFile.DoesNotExist("the log of this place was deleted")
        if place.log.masking and place.log.masking != run.masker.version:
            steps.start_over(place.log)
        before = LogFile.unscoped.only("revision").get(pk=place.log.pk).revision
        log = steps.read_on(place.log, masker=run.masker, on_progress=on_progress)
        return _told(place, log, stat, run, changed=log.revision != before)
    except Stop:
        raise
    except Exception as error:
        return _trouble(error, place, place.location, run)


def _trouble(error: Exception, place: SourceFile | None, location: str, run: Import) -> LogReport:
    """What `error` leaves of one file's import: its report, and the row that shows it."""
    if place is not None and SourceFile.unscoped.filter(pk=place.pk, status=DELETED).exists():
        return LogReport(path=location, status=DELETED, changed=False)  # deleted while it was read
    ours = not isinstance(error, MACHINE)
    log_.error(
        "%s could not be imported: %s: %s", location, type(error).__name__, error, exc_info=error if ours else None
    )
    reason = run.masker.mask_text(f"{type(error).__name__}: {error}")
    return seen.failed(place or seen.place_at(run.team, location), reason)


def session_named(source: BinaryIO, file_name: str) -> str | None:
    """The session a log's header names, None when it names none."""
    stated = _first_look(source, file_name).header_id
    return storable_name(stated, 200) if stated else None


def _read(
    place: SourceFile, source: BinaryIO, stat: Stat, *, file_name: str, folder: str, run: Import,
    on_progress: steps.OnProgress | None,
) -> LogReport:  # fmt: skip
    before = place.log
    if before is not None and files.still_the_same_log(before, source):
        log = before
    else:
        opened = _first_look(source, file_name)
        if opened.status == "failed":
            return seen.unreadable(place, opened.damage, stat)
        name = _session_id(opened.header_id, folder, place.location)
        known = files.same_bytes_elsewhere(
            team=run.team, session_id=name, file_name=file_name, source=source, size=stat.size
        )
        log = files.point_to(
            place,
            known or partial(files.new_log, team=run.team, session_id=name, file_name=file_name, owner=run.owner),
            instead_of=before.pk if before else None,
        )
    if log.masking and log.masking != run.masker.version:
        steps.start_over(log)
    changed = _catch_up(log, source, stat, run, on_progress)
    return _told(place, log, stat, run, changed=changed)


def _told(place: SourceFile, log: LogFile, stat: Stat, run: Import, *, changed: bool) -> LogReport:
    """Tells of a log as it is read now, and remembers it at its place."""
    log = LogFile.unscoped.select_related("session").defer("state", "header").get(pk=log.pk)
    report = seen.report_of(log, path=place.location, changed=changed)
    # also when nothing is new: whoever read the log before may have died before he told of it
    tell_imported(log, inline=run.inline)
    seen.remember(place, stat, report)
    return report


def _catch_up(log: LogFile, source: BinaryIO, stat: Stat, run: Import, on_progress: steps.OnProgress | None) -> bool:
    """Stores and projects what is new; False when there was nothing."""
    log.refresh_from_db()
    now = source.seek(0, os.SEEK_END)
    start = min(log.size, store.size(log.stored))
    whole = steps.settled(log)
    if log.size > now or not store.starts_with(source, log.stored, start=whole, length=start):
        # the tail was written anew; until it is read again nobody may take the log for a whole one
        start = min(whole, start)
        LogFile.unscoped.filter(pk=log.pk).update(complete=False, revision=F("revision") + 1)
    elif log.complete and log.size >= stat.size:
        return False
    store.append(log.stored, source, start=start, stop=now)
    steps.read_on(log, masker=run.masker, on_progress=on_progress)
    return True


@dataclass(frozen=True)
class _Opened:
    """What the first readable rows of a file say."""

    status: str
    header_id: str | None
    damage: list[dict[str, Any]]


def _first_look(source: BinaryIO, file_name: str) -> _Opened:
    """Reads on until there is a header or an event; only a file with neither is read to its end."""
    reader = read_log(source, compressed=file_name.endswith(".zstd"), limits=steps.limits())
    for batch in reader:
        if reader.header is not None or batch.events:
            break
    header = reader.header
    return _Opened(reader.status, header.id if header else None, [entry.to_json() for entry in reader.damage])


def _session_id(stated: str | None, folder: str, location: str) -> str:
    """The header's id, else the folder's name if it is one, else a name of our own that stays the same."""
    if stated:
        return storable_name(stated, 200)
    if folder.startswith("session-"):
        return storable_name(folder, 200)
    return "unnamed-" + hashlib.sha256(location.encode("utf-8", "surrogateescape")).hexdigest()[:12]
