"""Looks after the inbox (services.inbox) once a minute: asks for what was received and never read, clears what nobody wants.

A worker does it (dshweb.pipeline): whoever received the bytes may have been killed before he could.
"""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from dshweb.sessionlog.models import DELETED, SourceFile
from dshweb.sessionlog.services import inbox, pieces, sent, uploads
from dshweb.tasks.models import OPEN, Task

# what is written to stays; nobody goes on with a part or a draft that has been left alone this long
IDLE_SECONDS = 3600
# a whole file whose task failed may be tried again for a day, the pieces of one log be added to for a week
WHOLE_SECONDS = 24 * 3600
PIECES_SECONDS = 7 * 24 * 3600


def unread() -> list[SourceFile]:
    """Places with pieces that no import has seen."""
    rows = SourceFile.unscoped.filter(location__startswith=sent.PUSH, size=None)
    return list(rows.exclude(status__in=[DELETED, "failed"]).only("id", "team_id", "location"))


def sweep() -> int:
    """Removes what a crash or a failed import left behind, and what was deleted here; the number of files removed."""
    whole, parts = inbox.folder("whole"), inbox.folder("pieces")
    removed = sum(_gone(path, IDLE_SECONDS) for folder in (whole, parts) for path in folder.glob("*.*"))
    removed += sum(_gone(path, WHOLE_SECONDS) for path in whole.iterdir() if not path.suffix and not _wanted(path.name))
    rows = SourceFile.unscoped.filter(location__startswith=sent.PUSH, log=None)
    for row in rows.only("id", "team_id", "location", "status"):
        with inbox.locked(row.team_id, row.location):
            waiting = pieces.waiting_file(row.team_id, row.location)
            patience = float("-inf") if row.status == DELETED else PIECES_SECONDS
            removed += sum(_gone(path, patience) for path in (waiting, waiting.with_suffix(".draft")))
    return removed


def _gone(path: Path, seconds: float) -> bool:
    """Whether nobody has written to `path` for so long, and it was removed for that."""
    with suppress(FileNotFoundError):
        if time.time() - path.stat().st_mtime >= seconds:
            path.unlink()
            return True
    return False


def _wanted(key: str) -> bool:
    return Task.unscoped.filter(kind=uploads.KIND, key=key, state__in=OPEN).exists()
