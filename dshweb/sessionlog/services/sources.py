"""How the registered folders fare: when one was looked at last, and what was wrong with it."""

from __future__ import annotations

from pathlib import Path

from django.utils import timezone

from dshweb.access.models import User
from dshweb.sessionlog.models import Source
from dshweb.sessionlog.services.discover import Found
from dshweb.sessionlog.services.files import location

GONE = "there is nothing at this path (any more)"


def _names(path: Path) -> list[str]:
    """A folder may be registered by the name it was given or by where that leads, with or without a slash behind it."""
    names = {location(path.absolute()), location(path.resolve())}
    return [*names, *(f"{name}/" for name in names)]


def scanned(team: int, path: Path, found: Found, *, owner: User | None) -> None:
    """Notes a look at the folder `path`; registers it for `owner` when nobody has."""
    closed = found.skipped.get("unreadable_folder", 0)
    values = {
        "last_scan_at": timezone.now(),
        "last_error": f"folders that could not be read: {closed}" if closed else "",
    }
    if not Source.unscoped.filter(team=team, path__in=_names(path)).update(**values):
        Source.unscoped.update_or_create(
            team_id=team,
            path=location(path.resolve()),
            defaults=values,
            create_defaults=values | {"owner": owner},
        )


def vanished(team: int, path: Path) -> None:
    """Notes that the registered folder `path` is not there. One that nobody registered is nobody's trouble."""
    Source.unscoped.filter(team=team, path__in=_names(path)).exclude(last_error=GONE).update(last_error=GONE)
