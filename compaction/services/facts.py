"""Keeps the facts of each log up to date: folded in the import's own pass where that can be, else read once again.

Rule: issue 4 D. The import's compare and set guards both ways: facts are written in the transaction that sets the log's
revision, or only while that revision still stands. What is stored of texts is masked.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, TypeAlias

import msgspec
from django.db import OperationalError, transaction
from django.db.models import Exists, OuterRef, QuerySet

from compaction.core import replay, session_facts, standing
from compaction.core.replay import Replay
from compaction.core.session_facts import SessionFacts, facts_of
from compaction.core.standing import Standing
from compaction.models import LogFacts
from compaction.services.seen import SeenRoutes
from dshweb.sessionlog.core.reader import FrameBatch, LogReader, read_log
from dshweb.sessionlog.core.resume import Resume, StaleState
from dshweb.sessionlog.models import LogFile
from dshweb.sessionlog.services import companions, steps, store
from dshweb.sessionlog.services.fit import plain, short
from dshweb.sessionlog.services.masking import masker_for
from dshweb.text.redact import Masker

log_ = logging.getLogger(__name__)

FORMAT: Final = f"{session_facts.VERSION}.{replay.VERSION}.{standing.VERSION}"
"""Stands in each row's `facts` as `v`: rows of an older dshweb are made anew."""
ERROR_CHARS = 2000
TRIES = 5
KEPT: Final = 2
"""Foldings of logs that this process has just read: one that is being written is gone on with where it stands."""
_kept: dict[str, Folding] = {}  # by the name of the stored log, which is never given twice


_Place: TypeAlias = tuple[int, int, int, str]


class Folding:
    """One pass of one log: both folds, and where they stand. `state` None: from the log's first byte.

    `stands`: the revision, offset, rows and masking of the row that says the very same; None: it says more, or nothing is kept.
    """

    def __init__(self, masker: Masker, state: dict[str, Any] | None = None) -> None:
        self._masker = masker
        self.replay = Replay() if state is None else Replay.from_state(state["replay"])
        mask = masker.mask_text
        self.standing = Standing(mask) if state is None else Standing.from_state(state["standing"], mask)
        self._settled: dict[str, Any] | None = None
        self.stands: _Place | None = None

    def feed(self, batch: FrameBatch, reader: LogReader) -> None:
        """Fold the events of one frame; in front of the first provisional one the state is kept, its events come again."""
        self.stands = None
        if batch.frame.provisional and self._settled is None:
            self._settled = self._state()
        self.standing.start(reader.header)
        self.replay.feed_batch(batch, reader)
        for event in batch.events:
            self.standing.feed(event)

    def save(self, log: LogFile, revision: int, resume: Resume) -> None:
        """Writes what is kept of the log as it is at `revision`, settled up to `resume`; the caller holds the transaction."""
        self._mask()
        facts, cuts = facts_of(self.replay)
        values = {
            "team_id": log.team_id,
            "revision": revision,
            "offset": resume.offset,
            "rows": _rows(resume),
            "masking": self._masker.version,
            "facts": {"v": FORMAT, **plain(facts.to_json())},
            "standing": plain(self.standing.document()),
            "cuts": cuts,
            "state": msgspec.json.encode(self._settled or self._state()).decode(),
        }
        # not `update_or_create`: it reads the old row first, which may be a megabyte
        if not LogFacts.unscoped.filter(log_id=log.pk).update(**values):
            LogFacts.unscoped.create(log_id=log.pk, **values)
        if self._settled is None:
            self.stands = (revision, resume.offset, _rows(resume), self._masker.version)
            _keep(log.stored, self)

    def _state(self) -> dict[str, Any]:
        self._mask()
        return {"replay": self.replay.to_state(), "standing": self.standing.to_state()}

    def _mask(self) -> None:
        """What the replay keeps of the log's texts, names and an attempt's error, masked and short; twice changes nothing."""
        folded, last, header = self.replay, self.replay.last, self.replay.meter.header
        folded.preset = self._clean(folded.preset, 120)
        if header is not None:
            folded.meter.header = replace(
                header, provider=self._clean(header.provider, 200), model=self._clean(header.model, 200)
            )
        if last is not None:
            last.id, last.error = self._clean(last.id, 200) or "", self._clean(last.error, ERROR_CHARS)

    def _clean(self, text: str | None, most: int) -> str | None:
        return None if text is None else short(self._masker.mask_text(text), most)


def open_companion(log: LogFile, resume: Resume | None, masker: Masker) -> Folding | None:
    """The folds of an import that begins at `resume`; None when ours do not stand there (`catch_up` reads again then)."""
    if resume is None:
        return Folding(masker)
    row = LogFacts.unscoped.filter(log=log, offset=resume.offset, rows=_rows(resume), masking=masker.version)
    revision = row.values_list("revision", flat=True).first()
    known = _kept.pop(log.stored, None)
    if revision is None:
        return None
    if known is not None and known.stands == (revision, resume.offset, _rows(resume), masker.version):
        return known
    state = row.values_list("state", flat=True).first()
    if state is None:
        return None
    try:
        return Folding(masker, msgspec.json.decode(state))
    except (StaleState, KeyError, TypeError, ValueError) as reason:
        log_.warning("facts of log %s are made anew: %s", log.pk, reason)
        return None


def _keep(stored: str, folding: Folding) -> None:
    _kept.pop(stored, None)
    _kept[stored] = folding
    while len(_kept) > KEPT:
        _kept.pop(next(iter(_kept)), None)


def install() -> None:
    """From now on imports of this process keep facts."""
    if open_companion not in companions.OPENERS:
        companions.OPENERS.append(open_companion)
        companions.FORGETTERS.append(forget)


def forget(log: LogFile) -> None:
    """The facts of a log that is about to be read anew."""
    _kept.pop(log.stored, None)
    LogFacts.unscoped.filter(log=log).delete()


def catch_up(log: LogFile, on_progress: Callable[[int, int], None] | None = None) -> bool:
    """Reads a log again whose facts are missing or older than it. False: they were up to date, or the log is gone.

    Raises OSError when its stored bytes cannot be read.
    """
    for _ in range(TRIES):
        now = _behind().filter(pk=log.pk).only("id", "team_id", "stored", "file_name", "size", "revision").first()
        if now is None:
            return False
        masker = masker_for(now.team_id)
        folding, seen = Folding(masker), SeenRoutes(masker)
        with store.opened(now.stored) as source:
            reader = read_log(source, compressed=now.file_name.endswith(".zstd"), limits=steps.limits())
            for batch in reader:
                folding.feed(batch, reader)
                seen.feed(batch, reader)
                if on_progress:
                    on_progress(batch.frame.offset, now.size)
        with transaction.atomic():
            # sets what it compares: the row is ours until the facts are written
            if LogFile.unscoped.filter(pk=now.pk, revision=now.revision).update(revision=now.revision):
                folding.save(now, now.revision, reader.resume())
                seen.save(now, now.revision, reader.resume())
                return True
    log_.warning("log %s is being written faster than its facts are made; the next import makes them", log.pk)
    return False


def facts_in(kept: dict[str, Any] | None) -> SessionFacts | None:
    """The facts in a row's `facts`; None without a row, or for one of an older dshweb."""
    if kept is None or kept.get("v") != FORMAT:
        return None
    return SessionFacts.from_json({name: value for name, value in kept.items() if name != "v"})


def _behind() -> QuerySet[LogFile]:
    """Logs read to their end whose facts are missing, of another revision or of another format."""
    current = LogFacts.unscoped.filter(log=OuterRef("pk"), revision=OuterRef("revision"), facts__v=FORMAT)
    return LogFile.unscoped.filter(~Exists(current), complete=True)


def settle_missing() -> int:
    """Makes the facts that are missing, of logs imported before there were any or by an older dshweb. How many it made."""
    made = 0
    for log in _behind().only("id").order_by("id"):
        try:
            made += catch_up(log)
        except OSError as error:
            log_.error("no facts of log %s: %s", log.pk, error)
        except OperationalError:
            raise
        except Exception:  # one log does not keep the others, nor what is to be done after them, from their turn
            log_.exception("no facts of log %s", log.pk)
    return made


def _rows(resume: Resume) -> int:
    rows = resume.accounting.get("rows")
    return rows if isinstance(rows, int) else 0
