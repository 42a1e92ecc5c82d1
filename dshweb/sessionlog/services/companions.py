"""What other apps keep of a log, made in the same pass and the same transaction as our own rows.

An app above this one adds an opener to `OPENERS` when it is ready. At the start of a pass the opener is told where it
begins and what the log was; it gives a companion, or None when it cannot go on from there (it then catches up by itself
once the import has told of the log). A companion sees rows as they stand in the log, unmasked: what it stores, it masks.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol

from django.db import transaction

from dshweb.sessionlog.core.reader import FrameBatch, LogReader
from dshweb.sessionlog.core.resume import Resume
from dshweb.sessionlog.models import LogFile
from dshweb.sessionlog.signals import MACHINE
from dshweb.text.redact import Masker

log_ = logging.getLogger(__name__)


class Companion(Protocol):
    """One pass of one log."""

    def feed(self, batch: FrameBatch, reader: LogReader) -> None:
        """The events of the next frame. What it raises ends this companion, not the import."""

    def save(self, log: LogFile, revision: int, resume: Resume) -> None:
        """The log is read to its end, and settled up to `resume`: write what is kept, inside the import's transaction.

        What it raises undoes its own writes only, unless the machine is to blame.
        """


Opener = Callable[[LogFile, Resume | None, Masker], Companion | None]
OPENERS: list[Opener] = []
FORGETTERS: list[Callable[[LogFile], object]] = []  # called when a log is read anew: texts masked as before must go


def forget(log: LogFile) -> None:
    """Everybody's of this log goes; the next pass makes it anew."""
    for forgetter in FORGETTERS:
        forgetter(log)


class Companions:
    """Those of one pass. `resume` None: it starts with the log's first byte."""

    def __init__(self, log: LogFile, resume: Resume | None, masker: Masker) -> None:
        self._log = log
        self._all: list[Companion] = []
        for opener in OPENERS:
            try:
                companion = opener(log, resume, masker)
            except MACHINE:
                raise
            except Exception:
                log_.exception("%s cannot be opened for log %s", opener.__module__, log.pk)
            else:
                self._all += [companion] if companion is not None else []

    def feed(self, batch: FrameBatch, reader: LogReader) -> None:
        for companion in list(self._all):
            try:
                companion.feed(batch, reader)
            except Exception:  # a log is not lost over what is made of it besides
                log_.exception("%s is left out for log %s", type(companion).__name__, self._log.pk)
                self._all.remove(companion)

    def save(self, revision: int, resume: Resume) -> None:
        for companion in self._all:
            try:
                with transaction.atomic():  # what fails inside is undone alone
                    companion.save(self._log, revision, resume)
            except MACHINE:
                raise
            except Exception:
                log_.exception("%s could not be kept for log %s", type(companion).__name__, self._log.pk)
