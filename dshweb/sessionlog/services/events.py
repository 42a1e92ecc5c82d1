"""Any event of a stored log on demand: only the frames that hold it are read (the frame index, rule 4 of the house).

What leaves here is masked, unless the unmasked original is asked for by name; who may ask is for the caller to decide.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, cast

from django.db.models import F, QuerySet

from dshweb.sessionlog.core.events import Event, Replace
from dshweb.sessionlog.core.index import FrameInfo, read_events
from dshweb.sessionlog.models import Frame, LogFile
from dshweb.sessionlog.services import store
from dshweb.sessionlog.services.masking import masker_for
from dshweb.sessionlog.services.rows import FRAME_COLUMNS, moment
from dshweb.sessionlog.services.steps import limits

ALIKE = 16  # events of one seq that are shown, and frames looked into for them; only a damaged log has more than one
STREAMED = "assistant/chunk"
BESIDE = 2000  # events of a stream looked at on each side of one: a private key is some hundred of them
BESIDE_BYTES = 4 << 20
PAGE_BYTES = 8 << 20  # decoded bytes after which a page of events ends early


class Unreadable(Exception):
    """The stored bytes of a log are not there (any more), so that its events cannot be read."""


@dataclass(frozen=True)
class Place:
    """Where a page of events begins: the number of a row, and how many of its events come before (packed rows give many)."""

    row: int = 0
    nth: int = 0

    def __str__(self) -> str:
        return f"{self.row}.{self.nth}"

    @classmethod
    def read(cls, text: str) -> Place | None:
        row, dot, nth = text.partition(".")
        good = dot and all(part.isascii() and part.isdigit() and len(part) <= 15 for part in (row, nth))
        return cls(int(row), int(nth)) if good else None


@dataclass(frozen=True)
class Listed:
    """One event of a page, its place, and its type, masked: a log may say anything there."""

    event: Event
    place: Place
    type: str = ""

    @property
    def at(self) -> Any:
        return moment(self.event.time)

    @property
    def size(self) -> int:
        """Bytes of the event's data."""
        return len(self.event.data)


@dataclass(frozen=True)
class Page:
    """Events in the order of the log; `next` is where the following page begins, None at the end."""

    rows: list[Listed]
    next: Place | None = None


def page(log: LogFile, *, start: Place | None = None, from_seq: int | None = None, limit: int = 100) -> Page:
    """`limit` events from `start` on, or from the first one whose seq is `from_seq` or a later one.

    Ends early once PAGE_BYTES were decoded. Raises Unreadable.
    """
    frames = _frames(log)
    if start is not None:
        frames = frames.filter(first_row__gt=start.row - F("rows"))
    elif from_seq is not None:
        frames = frames.filter(last_seq__gte=from_seq)
    found: list[Listed] = []
    decoded = held = 0  # bytes of whole frames, and of the events of the page: one frame may be larger than a page
    begun = start is not None or from_seq is None
    mask = masker_for(log.team_id).mask_text
    for info, events in _read(log, _infos(frames[: limit + 2])):
        for one in events:
            if start is not None and (one.place.row, one.place.nth) < (start.row, start.nth):
                continue
            begun = begun or one.event.seq >= (from_seq or 0)
            if not begun:
                continue
            if len(found) == limit or max(decoded, held) > PAGE_BYTES:
                return Page(found, one.place)
            found.append(replace(one, type=mask(one.event.type)))
            held += one.size
        decoded += info.decoded_bytes
    return Page(found)


def at_seq(log: LogFile, seq: int) -> list[Event]:
    """The events with this seq, in the order of the log: one, none, or several in a damaged log; of more than ALIKE, one
    more. Raises Unreadable.
    """
    frames = _frames(log).filter(first_seq__lte=seq, last_seq__gte=seq)
    found = (one.event for _info, events in _read(log, _infos(frames[: ALIKE + 1])) for one in events)
    return list(islice((event for event in found if event.seq == seq), ALIKE + 1))


def at_rows(log: LogFile, positions: Iterable[int], *, most_bytes: int) -> dict[int, Event]:
    """Events by the numbers of their rows (surface events have a row of their own), as far as `most_bytes` of decoded frames go."""
    wanted = set(positions)
    if not wanted:
        return {}
    frames = _frames(log).filter(first_row__lte=max(wanted), first_row__gt=min(wanted) - F("rows"))
    chosen, total = [], 0
    for info in _infos(frames):
        if not any(info.first_row <= position < info.first_row + info.rows for position in wanted):
            continue
        total += info.decoded_bytes
        if total > most_bytes:
            break
        chosen.append(info)
    try:
        return {
            one.place.row: one.event
            for _info, events in _read(log, chosen)
            for one in events
            if one.place.row in wanted
        }
    except Unreadable:
        return {}


def document(event: Event) -> dict[str, Any]:
    """The event as its row in the log says it, members in DSH's order. Not masked."""
    op: Any = event.surface_op
    if isinstance(op, Replace):
        op = {"op": "replace", "startSeq": op.start, "endSeq": op.end}
    found: dict[str, Any] = {"seq": event.seq, "time": event.time, "type": event.type}
    if op is not None:
        found["surfaceOp"] = op
    if event.source_event_seqs is not None:
        found["sourceEventSeqs"] = list(event.source_event_seqs)
    if event.ignorable:
        found["ignorable"] = True
    return found | (event.extra or {}) | {"data": event.value}


def masked_document(log: LogFile, event: Event) -> dict[str, Any]:
    """The same with every string masked by the team's patterns in force. Raises Unreadable."""
    return masked_documents(log, [event])[0]


def masked_documents(log: LogFile, found: Sequence[Event]) -> list[dict[str, Any]]:
    """The same of neighbouring events, in the order of the log.

    A stream of a log of format 0 has an event for every few characters, so that a secret in it is seen only with those
    around: they are read too (FR-112, "keys split over rows"). Raises Unreadable.
    """
    masker = masker_for(log.team_id)
    streamed = [event for event in found if event.type == STREAMED]
    before = _beside(log, found[0], streamed[0], behind=False)[::-1] if streamed else []
    behind = _beside(log, found[-1], streamed[-1], behind=True) if streamed else []
    rows = masker.mask_runs([document(event) for event in (*before, *found, *behind)])
    return [cast(dict[str, Any], masker.mask_json(row)) for row in rows[len(before) : len(before) + len(found)]]


def _beside(log: LogFile, edge: Event, like: Event, *, behind: bool) -> list[Event]:
    """Events of the same step's stream as `like`, from `edge` outwards, as far as BESIDE of them or BESIDE_BYTES go."""
    frames = _frames(log)
    if behind:
        frames = frames.filter(first_row__gt=edge.row - F("rows"))
    else:
        frames = frames.filter(first_row__lte=edge.row).order_by("-first_row", "-offset")
    here, step, kept, decoded = (edge.row, edge.seq), _step(like), list[Event](), 0
    for info, events in _read(log, _infos(frames[:BESIDE])):
        for event in (one.event for one in (events if behind else reversed(events))):
            at = (event.row, event.seq)
            if event.type != STREAMED or (at <= here if behind else at >= here):
                continue
            if len(kept) == BESIDE or _step(event) != step:
                return kept
            kept.append(event)
        decoded += info.decoded_bytes
        if decoded > BESIDE_BYTES:
            break
    return kept


def _step(event: Event) -> tuple[Any, Any]:
    return event.body.get("turn"), event.body.get("step")


def pretty(found: Any) -> str:
    return json.dumps(found, ensure_ascii=False, indent=2)


def _frames(log: LogFile) -> QuerySet[Frame]:
    return Frame.unscoped.filter(log=log, events__gt=0).order_by("first_row", "offset")


def _infos(frames: QuerySet[Frame]) -> Iterator[FrameInfo]:
    return (FrameInfo(**dict(zip(FRAME_COLUMNS, row, strict=True))) for row in frames.values_list(*FRAME_COLUMNS))


def _read(log: LogFile, infos: Iterable[FrameInfo]) -> Iterator[tuple[FrameInfo, list[Listed]]]:
    """Each frame with its events and their places. Raises Unreadable when the bytes are gone."""
    bounds = limits()
    try:
        with store.opened(log.stored) as source:
            for info in infos:
                found: list[Listed] = []
                for event in read_events(source, info, bounds):
                    same = found[-1].place if found and found[-1].place.row == event.row else None
                    found.append(Listed(event, Place(event.row, same.nth + 1 if same else 0)))
                yield info, found
    except OSError as error:
        raise Unreadable(f"{type(error).__name__}: the stored log cannot be read") from error
