"""What-if: the pressure formula over a recorded session for other settings, and marks on its compactions.

Rule: issue 4 F, COMPACTION §8. Arithmetic on what was recorded, not a prediction. This is the one question that reads a
log while somebody waits, so it takes logs up to a size and one at a time in each process.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from compaction.core.document import Op, mutate
from compaction.core.formula import NoSpec, Spec, reserve, spec
from compaction.core.marks import Marked, marks
from compaction.core.policy import Settings, resolve
from compaction.core.what_if import Point, Pressure, Route, what_if
from compaction.services import catalogue
from dshweb.sessionlog.core.events import Event
from dshweb.sessionlog.core.header import Header
from dshweb.sessionlog.core.reader import read_log
from dshweb.sessionlog.models import LogFile
from dshweb.sessionlog.services import steps, store
from dshweb.sessionlog.services.fit import short
from dshweb.sessionlog.services.masking import masker_for

MOST_BYTES: Final = 32 << 20
"""Decoded bytes of a log that is replayed in a request: a second or two."""
WAIT_SECONDS: Final = 5.0
SHOWN: Final = 200
AUTO_OFF: Final = (
    "automatic compaction is off in the saved settings: with them nothing fires; worked out as if it were on"
)
MOST_NOTES: Final = 20
KEYS: Final = ("thresholdRatio", "headroomTokens", "retainRatio", "retainTokens", "maxTokens")

Decoded: TypeAlias = tuple[Header | None, list[Event], int | None]
"""Header, events, and how many of these stand in front of the first rows that were lost (None: none were)."""

_one = threading.BoundedSemaphore(1)
_places = threading.BoundedSemaphore(2)  # one at work and one that waits: the server's other threads go on answering


class TooLarge(Exception):
    """The log is too large to be replayed while somebody waits."""


class Busy(Exception):
    """Another session is being replayed in this process."""


class Gone(Exception):
    """The stored log cannot be read."""


@dataclass(frozen=True, slots=True)
class Look:
    """One step boundary under the tried settings. `spec`: the formula worked out there, None: no route yet.

    `crossing`: the first of a run of boundaries that are over; the others follow from it, for nothing was compacted.
    """

    point: Point
    spec: Spec | NoSpec | None
    crossing: bool


@dataclass(frozen=True, slots=True)
class Note:
    """What is to be said of a model of the log. `problem`: why it has no trigger; None: a model policy holds for it, or,
    without a route, AUTO_OFF.
    """

    route: str
    problem: NoSpec | None

    @property
    def text(self) -> str:
        if self.problem is None:
            return f"a model policy of the profile holds for {self.route}" if self.route else AUTO_OFF
        return f"{self.route}: {self.problem.message}"


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of it. `looks` counts all boundaries by what they are, `shown` lists those over or that really fired,
    `marks` the newest; `more` and `more_marks` are not listed."""

    settings: Settings
    looks: Mapping[str, int]
    shown: tuple[Look, ...]
    more: int
    marks: tuple[Marked, ...]
    more_marks: int
    last_seq: int | None
    notes: tuple[Note, ...]


def other_settings(saved: Mapping[str, object], given: Mapping[str, object]) -> Settings:
    """The saved settings with `given` keys (of KEYS) in their place, by the harness's own rules. Raises InvalidSettings."""
    ops = [Op("set", key, value) for key, value in given.items()]
    return resolve(mutate(saved, ops).document)


def try_settings(log: LogFile, settings: Settings, *, window: int | None = None) -> Tried:
    """Replays a log. `window`: a context window in place of the recorded one. Raises TooLarge, Busy, Gone.

    The recorded window goes before the catalogue's here: it is what the harness worked with.
    """
    with alone_with(log) as read:
        header, events, whole = read()
        limits = Limits(log.team_id, settings, window)
        points = what_if(header, events, limits.pressure, ranges=SHOWN, whole=whole)
        found = marks(header, events, whole=whole)
    looks, shown, crossed = Counter[str](), [], False
    for point in points:
        looks["looks"] += 1
        looks["fired"] += point.fired
        looks["over" if point.over else "unknown" if point.over is None else "below"] += 1
        crossing = bool(point.over) and not crossed
        looks["crossings"] += crossing
        crossed = bool(point.over) and not point.fired
        if point.over or point.fired:
            worked_out = limits.spec(point.route)
            shown.append(Look(replace(point, route=limits.named(point.route)), worked_out, crossing))
    last = events[-1].seq if events else None
    notes = (*limits.notes, *([] if settings.auto.value else [Note("", None)]))
    told = tuple(limits.marked(one) for one in found[-SHOWN:])
    return Tried(
        settings, looks, tuple(shown[:SHOWN]), max(0, len(shown) - SHOWN), told, max(0, len(found) - SHOWN), last, notes
    )


class Limits:
    """The formula for each route that a log goes through, worked out once for each; and what is told of the log's names:
    masked, and never longer than a name is.
    """

    def __init__(self, team_id: int, settings: Settings, window: int | None = None) -> None:
        self._settings, self._window = settings, window
        self._routes = catalogue.Routes(team_id)
        self._masker = masker_for(team_id)
        self._named: dict[Route, Route] = {}
        self._specs: dict[Route, Spec | NoSpec | None] = {}
        self._notes: dict[Note, None] = {}

    @property
    def notes(self) -> tuple[Note, ...]:
        return tuple(self._notes)

    def other(self, settings: Settings) -> Limits:
        """The same for other settings; what is known of the models is not asked for again."""
        made = copy(self)
        made._settings, made._specs, made._notes = settings, {}, {}
        return made

    def spec(self, route: Route) -> Spec | NoSpec | None:
        if route not in self._specs:
            self._specs[route] = self._work_out(route)
        return self._specs[route]

    def named(self, route: Route) -> Route:
        """The route as it is shown."""
        if route not in self._named:
            self._named[route] = replace(route, provider=self._clean(route.provider), model=self._clean(route.model))
        return self._named[route]

    def marked(self, one: Marked) -> Marked:
        """A mark as it is shown."""
        told = replace(one.compaction, id=self._clean(one.compaction.id) or "", error=self._clean(one.compaction.error))
        return replace(one, compaction=told, route=self.named(one.route))

    def _clean(self, text: str | None) -> str | None:
        return None if text is None else short(self._masker.mask_text(text), 200)

    def pressure(self, route: Route) -> Pressure | None:
        found = self.spec(route)
        return Pressure(found.threshold, found.retain) if isinstance(found, Spec) else None

    def _work_out(self, route: Route) -> Spec | NoSpec | None:
        if route.provider is None or route.model is None:
            return None
        key = route.provider, route.model
        known = self._routes.known(*key)
        policy = self._settings.for_route(*key)
        if any((each["provider"], each["model"]) == key for each in self._settings.overrides):
            self._note(route, None)
        logged = route.window if route.window is not None else known.window if known else None
        kept_free = reserve(
            route.max_tokens,
            known.default_max_tokens if known else None,
            adapter_known=known.adapter_known if known else False,
        )
        found = spec(policy, self._window if self._window is not None else logged, kept_free)
        if isinstance(found, NoSpec):
            self._note(route, found)
        return found

    def _note(self, route: Route, problem: NoSpec | None) -> None:
        if len(self._notes) < MOST_NOTES:
            shown = self.named(route)
            self._notes[Note(f"{shown.provider}/{shown.model}", problem)] = None


def _read(log: LogFile) -> Decoded:
    """The whole log, decoded, and how many events stand in front of the first rows that were lost (None: none were).

    Only a header in front tells the folds how old rows are priced.
    """
    events: list[Event] = []
    whole: int | None = None
    try:
        with store.opened(log.stored) as source:
            reader = read_log(source, compressed=log.file_name.endswith(".zstd"), limits=steps.limits())
            for batch in reader:
                if whole is None and (batch.frame.unreadable or reader.lost_row is not None):
                    whole = len(events)
                events += batch.events
    except OSError as error:
        raise Gone from error
    return reader.header, events, whole


@contextmanager
def alone_with(log: LogFile) -> Iterator[Callable[[], Decoded]]:
    """What reads a log (raising Gone), while no other is read in this process. Raises TooLarge, Busy."""
    decoded = log.accounting.get("decoded_bytes")
    if not isinstance(decoded, int) or decoded > MOST_BYTES:
        raise TooLarge
    with _alone():
        yield lambda: _read(log)


@contextmanager
def _alone() -> Iterator[None]:
    if not _places.acquire(blocking=False):
        raise Busy
    try:
        if not _one.acquire(timeout=WAIT_SECONDS):
            raise Busy
        try:
            yield
        finally:
            _one.release()
    finally:
        _places.release()
