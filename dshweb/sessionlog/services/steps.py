"""Reads what is new of a stored log and projects it, one bounded step after the other.

A step reads some frames, then writes their rows and the state behind them in ONE transaction that compares and sets the log's
`revision` (docs/decisions/0001). A step that finds another revision writes nothing and starts from what the other one left. Killed between
two steps, the next import goes on where the last commit stands; so does the import of a log that has grown.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Coalesce
from django.utils import timezone

from dshweb.sessionlog.core.index import FrameBatch, FrameInfo, joined
from dshweb.sessionlog.core.limits import Limits
from dshweb.sessionlog.core.reader import LogReader, read_log
from dshweb.sessionlog.core.resume import Resume, StaleState
from dshweb.sessionlog.core.scan import Scan
from dshweb.sessionlog.models import Compaction, Frame, LogFile, Message, Session
from dshweb.sessionlog.services import attempts, companions, rows, search, sessions, store
from dshweb.sessionlog.services.companions import Companions
from dshweb.sessionlog.services.fit import SMALL, number, plain
from dshweb.sessionlog.services.projection import Projector, masked, said
from dshweb.text.redact import Masker

log_ = logging.getLogger(__name__)

# decoded bytes and frames of one step: they bound memory and how long a transaction may take
STEP_BYTES = 4 << 20
STEP_FRAMES = 10_000

OnProgress = Callable[[int, int], None]


def limits() -> Limits:
    return Limits(
        log_bytes=settings.MAX_LOG_BYTES,
        frame_bytes=settings.MAX_FRAME_BYTES,
        row_bytes=settings.MAX_FRAME_BYTES,
        ratio=settings.MAX_RATIO,
    )


@dataclass
class Pending:
    """Rows of the step under way."""

    frames: list[FrameInfo] = field(default_factory=list)
    messages: list[tuple[Any, ...]] = field(default_factory=list)
    said: dict[int, list[str]] = field(default_factory=dict)
    summaries: dict[int, attempts.SummaryRow] = field(default_factory=dict)
    decoded: int = 0


class LostRace(Exception):
    """Another importer committed a step of this log first."""


def read_on(log: LogFile, *, masker: Masker, on_progress: OnProgress | None = None) -> LogFile:
    """Projects everything of the stored bytes that is not projected yet. Returns the log's row as it then is."""
    while True:
        log = LogFile.unscoped.get(pk=log.pk)
        try:
            with store.opened(log.stored) as source:
                _Run(log, source, masker, on_progress).go()
        except LostRace:
            continue
        except StaleState as reason:
            log_.warning("log %s is read anew: %s", log.pk, reason)
            start_over(log)
            continue
        return LogFile.unscoped.get(pk=log.pk)


def start_over(log: LogFile) -> None:
    """Forgets the projection, so that `read_on` makes it anew.

    Compaction rows stay, because audits hang on them; they lose their context, and those that did not get it back in the end
    are no longer in the log and go. Their texts go now, like all others: they may be what new masking patterns hide.
    """
    with transaction.atomic():
        LogFile.unscoped.filter(pk=log.pk).update(
            state=None, size=0, complete=False, revision=F("revision") + 1, masking="", header=None, work={}
        )
        Message.unscoped.filter(log=log).delete()
        Frame.unscoped.filter(log=log).delete()
        Compaction.unscoped.filter(log=log).update(context={}, error="", summary=None)
        Session.unscoped.filter(current=log).update(title="", cwd="")
        companions.forget(log)


def state_of(log: LogFile) -> dict[str, Any]:
    """The state behind the last step, {} before the first.

    It is stored as JSON in a string: its ids must come back as they stand in the log, and jsonb takes no NUL.
    """
    state: dict[str, Any] = json.loads(log.state) if log.state else {}
    return state


def settled(log: LogFile) -> int:
    """Bytes of the log that stay as they are; behind them lies at most a tail that was unfinished when it was read.

    DSH cuts such a tail off when a session is resumed, and writes its whole rows again in a frame of their own.
    """
    offset = state_of(log).get("reader", {}).get("offset", 0)
    return offset if isinstance(offset, int) else 0


class _Run:
    """One pass over the new part of a log."""

    def __init__(self, log: LogFile, source: Any, masker: Masker, on_progress: OnProgress | None) -> None:
        self.log, self.masker, self.on_progress = log, masker, on_progress
        state = state_of(log)
        resume = Resume.from_json(state.get("reader", {})) if state else None
        self.reader: LogReader = read_log(
            source, compressed=log.file_name.endswith(".zstd"), resume=resume, limits=limits()
        )
        self.scan = Scan.from_state(state.get("scan", {}), header=self.reader.header) if state else Scan()
        self.companions = Companions(log, resume, masker)
        # what rows before the unfinished tail said: the tail may come again without what it said
        self.before: dict[str, Any] = log.work.get("settled", log.work)
        self.settled: dict[str, str] | None = None
        self.has_header = self.reader.header is not None
        self.projector = Projector(team_id=log.team_id, log_id=log.pk)
        self.revision = log.revision
        self.first_row = self.reader.accounting.rows
        self.pending = Pending()
        self.first_step = True

    def go(self) -> None:
        for batch in self.reader:
            self._take(batch)
            full = self.pending.decoded >= STEP_BYTES or len(self.pending.frames) >= STEP_FRAMES
            if full and not batch.frame.provisional:
                self._commit(complete=False)
        self._commit(complete=True)

    def _take(self, batch: FrameBatch) -> None:
        pending = self.pending
        whole = joined(pending.frames[-1], batch.frame) if pending.frames else None
        if whole is None:
            pending.frames.append(batch.frame)
        else:
            pending.frames[-1] = whole
        pending.decoded += batch.frame.decoded_bytes
        if batch.frame.provisional and self.settled is None:
            self.settled = self._texts()
        self.companions.feed(batch, self.reader)
        self.scan.enter(batch, self.reader)
        for event in batch.events:
            found = self.scan.feed(masked(event, self.masker))
            if event.type == "compaction/summary":
                pending.summaries[event.row] = attempts.SummaryRow(event, self._texts()["cwd"])
            if found is not None:
                pending.messages.append(self.projector.message(event, found))
                words = search.words(said(found))  # here, not in the transaction, which others wait for
                if words:
                    pending.said[event.row] = words

    def _texts(self) -> dict[str, str]:
        """Title and working directory in force, masked: the scan's own state holds no texts."""
        work = sessions.work_of(self.scan, masker=self.masker, before=self.before)
        return {name: work[name] for name in ("title", "cwd")}

    def _commit(self, *, complete: bool) -> None:
        reader, log, pending = self.reader, self.log, self.pending
        resume = reader.resume()
        header = reader.header
        work = self.scan.work
        values: dict[str, Any] = {
            "revision": self.revision + 1,
            "state": json.dumps({"reader": resume.to_json(), "scan": self.scan.to_state()}),
            "size": reader.accounting.size if complete else resume.offset,
            "complete": complete,
            "compressed": reader.compressed,
            "format": number(reader.format, SMALL),
            "status": reader.status,
            "work": sessions.work_of(self.scan, masker=self.masker, before=self.before)
            | {"settled": self.settled or self._texts()},
            "accounting": reader.accounting.to_json(),
            "damage": [entry.to_json() for entry in reader.damage],
            "last_seq": work.last_seq,
            "last_time": work.last_time,
            "masking": self.masker.version,
            "read_at": timezone.now(),
        }
        if not self.has_header:
            values["header"] = plain(self.masker.mask_json(header.raw)) if header else None
        with transaction.atomic():
            if not LogFile.unscoped.filter(pk=log.pk, revision=self.revision).update(**values):
                raise LostRace
            if self.first_step:
                self._drop_provisional()
            self._join_last(pending)
            rows.insert_frames([self.projector.frame(info) for info in pending.frames])
            rows.insert_messages(pending.messages)
            self._index(pending)
            attempts.save(log=log, scan=self.scan, summaries=pending.summaries, masker=self.masker, final=complete)
            if complete:
                Compaction.unscoped.filter(log=log, context={}).delete()
                self._settle_inherited()
                sessions.refresh(log.session_id)
                self.companions.save(self.revision + 1, resume)
        self.revision += 1
        self.first_step = False
        self.pending = Pending()
        if self.on_progress:
            self.on_progress(values["size"], reader.accounting.size or values["size"])

    def _drop_provisional(self) -> None:
        """Rows of a tail that was unfinished when it was read: they are read again now, perhaps otherwise."""
        if self.log.state is None:
            return
        Message.unscoped.filter(log=self.log, position__gte=self.first_row).delete()
        Frame.unscoped.filter(log=self.log, provisional=True).delete()
        Compaction.unscoped.filter(log=self.log, position__gte=self.first_row).delete()

    def _join_last(self, pending: Pending) -> None:
        """A run of frames without rows is one row of the index, also when it goes on from an earlier step."""
        if not pending.frames or pending.frames[0].rows or pending.frames[0].decoded_bytes:
            return
        last = Frame.unscoped.filter(log=self.log).order_by("-offset").values("pk", *rows.FRAME_COLUMNS).first()
        if last is None:
            return
        pk = last.pop("pk")
        whole = joined(FrameInfo(**last), pending.frames[0])
        if whole is not None:
            Frame.unscoped.filter(pk=pk).update(length=whole.length)
            del pending.frames[0]

    def _settle_inherited(self) -> None:
        """Only the end of a fork's prefix tells which rows were the parent's."""
        before = self.reader.inherited_before
        if before is not None:
            rows_ = Message.unscoped.filter(log=self.log)
            rows_.filter(seq__lt=before, inherited=False).update(inherited=True)
            rows_.filter(seq__gte=before, inherited=True).update(inherited=False)
            attempts_ = Compaction.unscoped.filter(log=self.log).annotate(
                first=Coalesce("start_seq", "summary_seq", "checkpoint_seq", "end_seq")
            )
            attempts_.filter(first__lt=before, inherited=False).update(inherited=True)
            attempts_.filter(first__gte=before, inherited=True).update(inherited=False)

    def _index(self, pending: Pending) -> None:
        if not pending.said:
            return
        positions = list(pending.said)
        ids = Message.unscoped.filter(log=self.log, position__gte=positions[0], position__lte=positions[-1])
        by_position = dict(ids.values_list("position", "id"))
        search.add([(by_position[position], words) for position, words in pending.said.items()])
