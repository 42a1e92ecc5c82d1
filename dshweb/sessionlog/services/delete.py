"""Takes a session away with all that was made of it, and lets it be brought in again when somebody asks.

Rows, search rows and the note in the access log go in ONE transaction; the stored bytes go once that is committed. Killed in
between, nothing is half there: files that no row names are found by `sweep`. The places its logs were read at stay as
DELETED, so that a watched folder does not quietly bring back what a person took away (`bring_back`, `ingest --again`). An
import that runs meanwhile finds its row gone at its next step and ends.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from django.db import transaction
from django.db.models import QuerySet

from dshweb.access.callers import Caller
from dshweb.access.services.log import note_access
from dshweb.sessionlog.models import DELETED, Compaction, Frame, LogFile, Message, Session, SourceFile
from dshweb.sessionlog.services import search, store
from dshweb.sessionlog.services.files import location
from dshweb.sessionlog.services.requests import request_ingest
from dshweb.tasks.models import Task

log_ = logging.getLogger(__name__)

ACTION = "session-deleted"
_STORED = re.compile(r"team-\d+/[0-9a-f]{2}/[0-9a-f]{32}\.jsonl(\.zstd)?")


@dataclass(frozen=True)
class Doomed:
    """What goes with a session. `stored_bytes` are those of its logs in the log store, `places` where they were read at."""

    logs: int
    stored_bytes: int
    messages: int
    searchable: int
    compactions: int
    frames: int
    places: tuple[str, ...]


def doomed(session: Session) -> Doomed:
    """Counts it; nothing is changed."""
    logs = LogFile.unscoped.filter(session=session)
    messages = Message.unscoped.filter(log__session=session)
    places = SourceFile.unscoped.filter(log__session=session).order_by("location")
    return Doomed(
        logs=logs.count(),
        stored_bytes=sum(store.size(name) for name in logs.values_list("stored", flat=True)),
        messages=messages.count(),
        searchable=messages.filter(pk__in=search.indexed()).count(),
        compactions=Compaction.unscoped.filter(session=session).count(),
        frames=Frame.unscoped.filter(log__session=session).count(),
        places=tuple(places.values_list("location", flat=True)[:20]),
    )


def delete_session(pk: int, *, by: Caller) -> bool:
    """Deletes it; False when it is gone already. Who may is for the caller to decide."""
    with transaction.atomic():
        # logs before their session: the order in which an import locks them
        list(LogFile.unscoped.select_for_update().filter(session=pk).order_by("id").values_list("id"))
        session = Session.unscoped.select_for_update().filter(pk=pk).first()
        if session is None:
            return False
        stored = list(LogFile.unscoped.filter(session=pk).values_list("stored", flat=True))
        SourceFile.unscoped.filter(log__session=pk).update(
            log=None, status=DELETED, error="", report=None, size=None, mtime_ns=None, owner=session.owner_id
        )
        note_access(session.team_id, ACTION, f"session {session.session_id}", caller=by)
        session.delete()
        transaction.on_commit(partial(_drop, stored))
    return True


def _drop(stored: Iterable[str]) -> None:
    for name in stored:
        try:
            store.delete(name)
        except OSError as error:  # the rows are gone; `sweep` finds the file
            log_.error("%s could not be deleted: %s", name, error)


def lift(places: QuerySet[SourceFile]) -> int:
    """Forgets that logs at these places were deleted: the next import of them brings them in. How many there were."""
    return places.filter(status=DELETED).update(status="")


def lift_below(team: int, path: Path) -> int:
    """The same for the file at `path`, or all below it."""
    name = location(path.resolve())
    below = SourceFile.unscoped.filter(team=team, location__startswith=name.rstrip("/") + "/")
    return lift(SourceFile.unscoped.filter(team=team, location=name)) + lift(below)


def bring_back(place: SourceFile, *, by: Caller) -> Task | None:
    """Asks for the log at a place to be read again, for whom it belonged to; None where that can only be uploaded again.

    Who may is for the caller to decide (`places.may_bring_back`).
    """
    lift(SourceFile.unscoped.filter(pk=place.pk))
    if not Path(place.location).is_absolute():
        return None
    return request_ingest(place.team_id, Path(place.location), owner=place.owner_id, by=by.user)


def sweep() -> int:
    """Deletes stored logs that no row names (a process was killed between the rows and the files). How many there were.

    A log's row is committed before its first byte is stored, so a file without a row never gets one.
    """
    names = [name for name in store.names() if _STORED.fullmatch(name)]
    gone = 0
    for start in range(0, len(names), 500):
        some = names[start : start + 500]
        known = set(LogFile.unscoped.filter(stored__in=some).values_list("stored", flat=True))
        orphans = [name for name in some if name not in known]
        _drop(orphans)
        gone += len(orphans)
    return gone
