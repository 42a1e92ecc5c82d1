"""Keeps the facts of each log up to date: folded in the import's own pass where that can be, else read once again.

Rule: issue 4 D. The import's compare and set guards both ways: facts are written in the transaction that sets the log's
revision, or only while that revision still stands. What is stored of texts is masked.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.db.models import F, Q

from compaction.core.replay import Replay
from compaction.core.session_facts import facts_of
from compaction.core.standing import Standing
from compaction.models import LogFacts
from dshweb.sessionlog.core.reader import FrameBatch, LogReader, read_log
from dshweb.sessionlog.core.resume import Resume, StaleState
from dshweb.sessionlog.models import LogFile
from dshweb.sessionlog.services import companions, steps, store
from dshweb.sessionlog.services.fit import plain, short
from dshweb.sessionlog.services.masking import masker_for
from dshweb.text.redact import Masker

log_ = logging.getLogger(__name__)

ERROR_CHARS = 2000
TRIES = 5


class Folding:
    """One pass of one log: both folds, and where they stand. `state` None: from the log's first byte."""

    def __init__(self, masker: Masker, state: dict[str, Any] | None = None) -> None:
        self._masker = masker
        self.replay = Replay() if state is None else Replay.from_state(state["replay"])
        mask = masker.mask_text
        self.standing = Standing(mask) if state is None else Standing.from_state(state["standing"], mask)
        self._settled: dict[str, Any] | None = None

    def feed(self, batch: FrameBatch, reader: LogReader) -> None:
        """Fold the events of one frame; in front of the first provisional one the state is kept, its events come again."""
        if batch.frame.provisional and self._settled is None:
            self._settled = self._state()
        self.standing.start(reader.header)
        self.replay.feed_batch(batch, reader)
        for event in batch.events:
            self.standing.feed(event)

    def save(self, log: LogFile, revision: int, resume: Resume) -> None:
        """Writes what is kept of the log as it is at `revision`, settled up to `resume`; the caller holds the transaction."""
        self._mask_error()
        facts, cuts = facts_of(self.replay)
        values = {
            "team_id": log.team_id,
            "revision": revision,
            "offset": resume.offset,
            "rows": _rows(resume),
            "masking": self._masker.version,
            "facts": _bounded(facts.to_json()),
            "standing": plain(self.standing.document()),
            "cuts": cuts,
            "state": json.dumps(self._settled or self._state()),
        }
        LogFacts.unscoped.update_or_create(log_id=log.pk, defaults=values)

    def _state(self) -> dict[str, Any]:
        self._mask_error()
        return {"replay": self.replay.to_state(), "standing": self.standing.to_state()}

    def _mask_error(self) -> None:
        """An attempt's error is the one text of the log that the replay keeps. Masking it twice changes nothing."""
        last = self.replay.last
        if last is not None and last.error is not None:
            last.error = self._masker.mask_text(last.error)[:ERROR_CHARS]


def open_companion(log: LogFile, resume: Resume | None, masker: Masker) -> Folding | None:
    """The folds of an import that begins at `resume`; None when ours do not stand there (`catch_up` reads again then)."""
    if resume is None:
        return Folding(masker)
    row = LogFacts.unscoped.filter(log=log, offset=resume.offset, rows=_rows(resume), masking=masker.version).first()
    if row is None:
        return None
    try:
        return Folding(masker, json.loads(row.state))
    except (StaleState, KeyError, ValueError) as reason:
        log_.warning("facts of log %s are made anew: %s", log.pk, reason)
        return None


def install() -> None:
    """From now on imports of this process keep facts."""
    if open_companion not in companions.OPENERS:
        companions.OPENERS.append(open_companion)
        companions.FORGETTERS.append(forget)


def forget(log: LogFile) -> None:
    """The facts of a log that is about to be read anew."""
    LogFacts.unscoped.filter(log=log).delete()


def catch_up(log: LogFile, on_progress: Callable[[int, int], None] | None = None) -> bool:
    """Reads a log again whose facts are missing or older than it. False: they were up to date, or the log is gone.

    Raises OSError when its stored bytes cannot be read.
    """
    for _ in range(TRIES):
        rows = LogFile.unscoped.filter(pk=log.pk, complete=True).exclude(facts__revision=F("revision"))
        now = rows.only("id", "team_id", "stored", "file_name", "size", "revision").first()
        if now is None:
            return False
        folding = Folding(masker_for(now.team_id))
        with store.opened(now.stored) as source:
            reader = read_log(source, compressed=now.file_name.endswith(".zstd"), limits=steps.limits())
            for batch in reader:
                folding.feed(batch, reader)
                if on_progress:
                    on_progress(batch.frame.offset, now.size)
        with transaction.atomic():
            # sets what it compares: the row is ours until the facts are written
            if LogFile.unscoped.filter(pk=now.pk, revision=now.revision).update(revision=now.revision):
                folding.save(now, now.revision, reader.resume())
                return True
    log_.warning("log %s is being written faster than its facts are made; the next import makes them", log.pk)
    return False


def missing() -> list[LogFile]:
    """Logs read to their end whose facts are missing or of another revision, without what is heavy."""
    behind = Q(facts=None) | ~Q(facts__revision=F("revision"))
    return list(LogFile.unscoped.filter(behind, complete=True).only("id", "team_id", "stored").order_by("id"))


def settle_missing() -> int:
    """Makes the facts that are missing: of logs imported before there were any. How many it made."""
    made = 0
    for log in missing():
        try:
            made += catch_up(log)
        except OSError as error:
            log_.error("no facts of log %s: %s", log.pk, error)
    return made


def _rows(resume: Resume) -> int:
    rows = resume.accounting.get("rows")
    return rows if isinstance(rows, int) else 0


def _bounded(facts: dict[str, Any]) -> dict[str, Any]:
    """Names out of a log can be of any length and hold anything; the state keeps them as they are."""
    route, last = facts["route"], facts["last"]
    facts["route"] = {
        **route,
        **{name: None if route[name] is None else short(route[name], 200) for name in ("provider", "model")},
    }
    facts["preset"] = None if facts["preset"] is None else short(facts["preset"], 120)
    if last is not None:
        facts["last"] = {**last, "id": short(last["id"], 200)}
    fitted: dict[str, Any] = plain(facts)
    return fitted
