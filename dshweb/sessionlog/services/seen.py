"""Places logs were seen at: their rows, what is remembered of each reading, and the report that says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from dshweb.access.models import Team
from dshweb.sessionlog.models import DELETED, Compaction, LogFile, SourceFile
from dshweb.sessionlog.services import fit
from dshweb.sessionlog.services.files import Stat
from dshweb.sessionlog.services.report import OURS, LogReport


def _places() -> QuerySet[SourceFile]:
    """With what tells an unchanged log; the rest of a log can be large and is fetched when it is needed."""
    rows: QuerySet[SourceFile] = SourceFile.unscoped.select_related("log")
    log = ("size", "stored", "complete", "masking")
    return rows.only(
        "team", "location", "log", "size", "mtime_ns", "inode", "status", "report", *(f"log__{name}" for name in log)
    )


def place_at(team: Team, location: str) -> SourceFile:
    """The row of a place, made when it is new, with what an import needs of its log."""
    return _places().get_or_create(team=team, location=location)[0]


def known_places(team: Team, locations: Sequence[str]) -> dict[str, SourceFile]:
    """The rows of places seen before, by location, in a few queries for the whole run."""
    known: dict[str, SourceFile] = {}
    for start in range(0, len(locations), 500):
        some = locations[start : start + 500]
        known |= {row.location: row for row in _places().filter(team=team, location__in=some)}
    return known


def shown_elsewhere(place: SourceFile) -> bool:
    """Whether another place shows its log: another person's copy, or a folder of this machine. It is not this one's to add to."""
    return place.log_id is not None and SourceFile.unscoped.filter(log=place.log_id).exclude(pk=place.pk).exists()


def report_of(log: LogFile, *, path: str, changed: bool) -> LogReport:
    """The report of a log as it is projected now."""
    accounting = log.accounting
    report = LogReport(
        path=path, status=log.status, session_id=log.session.session_id, format=log.format, changed=changed
    )
    report.frames, report.rows, report.events = (accounting[name] for name in ("frames", "rows", "events"))
    report.skipped, report.damage = accounting["skipped"], log.damage
    report.turns = log.work.get("turns")
    for outcome in Compaction.unscoped.filter(log=log).values_list("outcome", flat=True):
        report.compactions[outcome] += 1
    return report


def remember(place: SourceFile, stat: Stat | None, report: LogReport, *, error: str = "") -> None:
    """Keeps what a reading came to. Without the stat of what was read the next run tries again."""
    read: dict[str, Any] = {"size": None, "mtime_ns": None} if stat is None else asdict(stat)
    SourceFile.unscoped.filter(pk=place.pk).exclude(status=DELETED).update(
        **read, status=report.status, error=error, report=report.to_json(), read_at=timezone.now()
    )


def unreadable(place: SourceFile, damage: list[dict[str, Any]], stat: Stat) -> LogReport:
    """Nothing in the file is a session log. A log that was read from this place before stays as it is."""
    report = LogReport(path=place.location, status="failed", damage=damage)
    remember(place, stat, report, error=report.why())
    return report


def failed(place: SourceFile, reason: str) -> LogReport:
    """An error of ours or of the machine."""
    error = fit.short(reason, 4000)
    report = LogReport(path=place.location, status="failed", damage=[{"code": OURS, "detail": error}])
    remember(place, None, report, error=error)
    return report
