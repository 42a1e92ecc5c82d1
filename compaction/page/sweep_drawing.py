"""How a sweep is drawn: tokens over the steps, the trigger across them, marks where it would have fired and where it did.

Rule: issue 5.8, DECISIONS 16. All figures of all ratios go with the drawing (`data`), so that a dragged ratio asks nobody;
`static/js/sweep.js` draws them as this module does. Coordinates are thousandths of the drawing's width and height.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from compaction.core.sweep import Row, Trace, thinned

DATA_BYTES: Final = 15_000
LISTED: Final = (60, 40, 25, 16, 10, 6, 3, 1)
"""How many crossings of a ratio are listed: the most that let all ratios stay below DATA_BYTES."""
NAMED: Final = 8
MOST_FIRED: Final = 60
MOST_ROUTES: Final = 6
MOST_PARTS: Final = 60
LEFT, RIGHT, HIGH, LOW = 10, 990, 110, 930
LAST_BELOW: Final = 830
ABOVE: Final = 40
"""Where a trigger is drawn that is above the drawing."""


@dataclass(frozen=True, slots=True)
class Place:
    """A step that is marked, and its mark in the drawing (None: nothing was measured there). `trigger` in tokens."""

    index: int
    seq: int
    turn: int | None
    total: int | None
    trigger: int | None
    would: bool
    fired: bool
    x: str
    y: str | None


@dataclass(frozen=True, slots=True)
class Drawing:
    """Everything the template says. `trigger` is that of the last route; `above`: it is higher than the drawing."""

    ratio: float
    row: Row
    steps: int
    fired: int
    trigger: int | None
    why: str
    above: bool
    line_y: str
    curve: str
    line: str
    ticks: tuple[tuple[int, str], ...]
    places: tuple[Place, ...]
    more: int
    notes: tuple[str, ...]
    data: str

    @property
    def would(self) -> list[Place]:
        return [place for place in self.places if place.would]

    @property
    def label_dy(self) -> int:
        """The words of the line stand below it, for the marks are above; near the base line above it."""
        return -5 if float(self.line_y.rstrip("%") or 0) > LAST_BELOW / 10 else 14

    @property
    def first(self) -> list[Place]:
        """Those that are named in a sentence."""
        return self.would[:NAMED]

    @property
    def rest(self) -> int:
        return self.row.count - len(self.first)

    @property
    def told(self) -> bool:
        """Whether it can be told of any step at all if it would have fired there."""
        return self.row.unknown < self.steps

    @property
    def really(self) -> list[Place]:
        return [place for place in self.places if place.fired]


def drawing(
    steps: Trace, chosen: Row, rows: Sequence[Row], why: Callable[[Row], str], notes: Sequence[str] = ()
) -> Drawing | None:
    """The drawing of one ratio with the figures of all. None: the session has no step at which the pressure is looked at.

    `why` gives words for a row whose last route has no trigger.
    """
    if not len(steps):
        return None
    frame = _Frame.of(steps, [chosen, *rows])
    last = steps.route[-1]
    trigger = chosen.thresholds[last]
    listed = frozenset(chosen.crossings[: LISTED[0]])
    fired = [n for n, yes in enumerate(steps.fired) if yes]
    shown = sorted(listed.union(fired[:MOST_FIRED]))
    places = tuple(frame.place(n, chosen, would=n in listed) for n in shown)
    return Drawing(
        ratio=chosen.ratio,
        row=chosen,
        steps=len(steps),
        fired=len(fired),
        trigger=trigger,
        why=why(chosen) if trigger is None else "",
        above=trigger is not None and trigger > frame.top,
        line_y=_percent(frame.y(trigger)) if trigger is not None else "",
        curve=frame.curve(),
        line=frame.line(chosen),
        ticks=tuple((value, _percent(frame.y(value))) for value in frame.ticks()),
        places=places,
        more=chosen.count - len(listed) + max(0, len(fired) - MOST_FIRED),
        notes=tuple(notes),
        data=_data(frame, rows, fired[:MOST_FIRED], why),
    )


@dataclass(frozen=True, slots=True)
class _Frame:
    """Scales: steps from left to right, tokens from the base line up to `top`. `parts` are stretches of one route as (first
    step, route); with too many of them, or too many routes, only the last route's trigger is drawn (`flat`)."""

    steps: Trace
    top: int
    parts: tuple[tuple[int, int], ...]
    flat: bool

    @classmethod
    def of(cls, steps: Trace, rows: Sequence[Row]) -> _Frame:
        """The same scale for every ratio: a little over what was measured, and over the triggers where those are near."""
        largest = max((total for total in steps.total if total is not None), default=0)
        triggers = [limit for row in rows for limit in row.thresholds if limit is not None]
        top = max(1, min(max(triggers, default=0), largest * 3 // 2), largest * 11 // 10)
        parts = [(n, route) for n, route in enumerate(steps.route) if n == 0 or steps.route[n - 1] != route]
        flat = len(parts) > MOST_PARTS or len(steps.routes) > MOST_ROUTES
        return cls(steps, top, ((0, steps.route[-1]),) if flat else tuple(parts), flat)

    def x(self, index: int) -> int:
        last = len(self.steps) - 1
        return round(LEFT + (RIGHT - LEFT) * index / last) if last else (LEFT + RIGHT) // 2

    def y(self, tokens: int) -> int:
        return ABOVE if tokens > self.top else round(LOW - (LOW - HIGH) * tokens / self.top)

    def curve(self) -> str:
        """Areas over the base line, one for each stretch of measured steps."""
        made: list[str] = []
        open_at: int | None = None
        for index in thinned(self.steps):
            total = self.steps.total[index]
            if total is None:
                if open_at is not None:
                    made.append(f"L{open_at} {LOW}")
                open_at = None
                continue
            x = self.x(index)
            made.append(f"{f'M{x} {LOW}' if open_at is None else ''}L{x} {self.y(total)}")
            open_at = x
        if open_at is not None:
            made.append(f"L{open_at} {LOW}")
        return "".join(made)

    def line(self, row: Row) -> str:
        """The trigger across the steps; a gap where a route has none."""
        made: list[str] = []
        drawn = False
        for n, (first, route) in enumerate(self.parts):
            limit = row.thresholds[route]
            if limit is not None:
                start = self.x(first) if n else 0
                end = self.x(self.parts[n + 1][0]) if n + 1 < len(self.parts) else 1000
                y = self.y(limit)
                made.append(f"{'L' if drawn else 'M'}{start} {y}H{end}")
            drawn = limit is not None
        return "".join(made)

    def ticks(self) -> list[int]:
        """One to four round numbers of tokens above 0."""
        rough = self.top / 3
        power = 10 ** max(0, math.floor(math.log10(rough))) if rough >= 1 else 1
        step = next((int(power * n) for n in (1, 2, 5) if power * n >= rough), power * 10)
        return list(range(step, self.top + 1, step))

    def place(self, index: int, row: Row, *, would: bool) -> Place:
        steps, total = self.steps, self.steps.total[index]
        return Place(
            index, steps.seq[index], steps.turn[index], total, row.thresholds[steps.route[index]], would, steps.fired[index],
            _percent(self.x(index)), None if total is None else _percent(self.y(total)),
        )  # fmt: skip


def _percent(thousandths: int) -> str:
    return f"{thousandths / 10:g}%"


def _data(frame: _Frame, rows: Sequence[Row], fired: Sequence[int], why: Callable[[Row], str]) -> str:
    """JSON for `data-rows`. A row is [triggers by route, over, crossings, untold, listed places, words for no trigger], or 0
    when nothing but the ratio differs from the row before; a place [step, seq, turn, tokens, route, really fired]."""
    last = frame.steps.route[-1]
    made: dict[str, Any] = {
        "n": len(frame.steps), "top": frame.top, "parts": [(0, 0)] if frame.flat else frame.parts, "fired": [],
    }  # fmt: skip
    words: dict[str, int] = {}
    text = ""
    for most in LISTED:
        marked = sorted({*fired, *(n for row in rows for n in row.crossings[:most])})
        numbers = {index: n for n, index in enumerate(marked)}
        listed: list[list[Any] | int] = []
        before: list[Any] | None = None
        for row in rows:
            limits = [row.thresholds[last]] if frame.flat else list(row.thresholds)
            entry: list[Any] = [limits, row.over, row.count, row.unknown, [numbers[n] for n in row.crossings[:most]]]
            if row.thresholds[last] is None:
                entry.append(words.setdefault(why(row), len(words)))
            listed.append(0 if entry == before else entry)
            before = entry
        made |= {
            "rows": listed, "places": [_place(frame, n) for n in marked], "fired": [numbers[n] for n in fired],
            "why": list(words), "last": 0 if frame.flat else last,
        }  # fmt: skip
        text = json.dumps(made, ensure_ascii=False, separators=(",", ":"))
        if len(text.encode()) <= DATA_BYTES:
            break
    return text


def _place(frame: _Frame, index: int) -> list[Any]:
    steps = frame.steps
    route = -1 if frame.flat and steps.route[index] != steps.route[-1] else 0 if frame.flat else steps.route[index]
    return [index, steps.seq[index], steps.turn[index], steps.total[index], route, int(steps.fired[index])]
