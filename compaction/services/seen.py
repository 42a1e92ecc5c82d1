"""Fills the catalogue from logs: a companion of the import that looks at the rows naming a route."""

from __future__ import annotations

from dataclasses import replace

from compaction.core.routes_seen import TYPES, RoutesSeen
from compaction.services.catalogue import note_seen
from dshweb.sessionlog.core.reader import FrameBatch, LogReader
from dshweb.sessionlog.core.resume import Resume
from dshweb.sessionlog.models import LogFile
from dshweb.text.redact import Masker


class SeenRoutes:
    """One pass. Each row says all it has to say by itself, so a pass may begin anywhere."""

    def __init__(self, masker: Masker) -> None:
        self._masker, self._fold = masker, RoutesSeen()

    def feed(self, batch: FrameBatch, reader: LogReader) -> None:
        for event in batch.events:
            if event.type in TYPES:
                self._fold.feed(event.type, event.body, event.time)

    def save(self, log: LogFile, revision: int, resume: Resume) -> None:
        # an id that masking would change is no id of a model, nor is such an effort one
        clean = [one for one in self._fold.found if not any(map(self._hides, (one.provider, one.model)))]
        clean = [replace(one, default_effort=None) if self._hides(one.default_effort or "") else one for one in clean]
        note_seen(log.team_id, clean)

    def _hides(self, text: str) -> bool:
        return self._masker.mask_text(text) != text


def opened(log: LogFile, resume: Resume | None, masker: Masker) -> SeenRoutes:
    """For `dshweb.sessionlog.services.companions.OPENERS`."""
    return SeenRoutes(masker)
