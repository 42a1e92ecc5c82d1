"""One recorded session under many trigger ratios: where each would have fired, from a trace that is taken once.

Rule: issue 5.8, `what_if`. Arithmetic on what was recorded, not a prediction. The answer for a ratio is the one that `what_if`
gives with those limits; here all ratios share one pass over the steps, so that a ratio can be dragged.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from .measure import Measurement
from .what_if import Point, Route

GRID: Final = tuple(n / 100 for n in range(1, 100))
"""The ratios of the slider: 0.01 to 0.99."""


@dataclass(frozen=True, slots=True)
class Trace:
    """What the formula needs of a session's steps, in columns of one length. `route` is an index into `routes`.

    `total` None: the step could not be measured. `fired`: the harness pruned or compacted there.
    """

    routes: tuple[Route, ...]
    seq: tuple[int, ...]
    turn: tuple[int | None, ...]
    total: tuple[int | None, ...]
    measurement: tuple[Measurement, ...]
    route: tuple[int, ...]
    fired: tuple[bool, ...]

    def __len__(self) -> int:
        return len(self.seq)


@dataclass(frozen=True, slots=True)
class Row:
    """One ratio. `thresholds` in tokens for each route of the trace, None: there is no usable trigger.

    `crossings` are the first steps of runs that are over, as indexes into the trace; all `count` of them unless the sweep
    was told to list fewer. `over` counts steps at or over the trigger, `unknown` those where that cannot be told.
    """

    ratio: float
    thresholds: tuple[int | None, ...]
    crossings: tuple[int, ...]
    count: int
    over: int
    unknown: int


def trace(points: Iterable[Point]) -> Trace:
    """The steps of a session as `what_if` gives them; what a policy said of them does not matter."""
    routes: dict[Route, int] = {}
    taken = [
        (each.seq, each.turn, each.total, each.measurement, routes.setdefault(each.route, len(routes)), each.fired)
        for each in points
    ]
    seq, turn, total, measurement, route, fired = zip(*taken, strict=True) if taken else ((), (), (), (), (), ())
    return Trace(tuple(routes), seq, turn, total, measurement, route, fired)


def sweep(
    steps: Trace, limits: Callable[[float, Route], int | None], grid: Iterable[float] = GRID, *, most: int | None = None
) -> list[Row]:
    """A row for each ratio of `grid`, in its order. `limits` gives the trigger in tokens, None: no usable one.

    `most`: list only so many crossings of a row (its `count` is of all). Time grows with the steps and with what is
    listed, not with steps times ratios.
    """
    ratios = tuple(grid)
    table = [tuple(limits(ratio, route) for route in steps.routes) for ratio in ratios]
    columns = [_Column.of(row[n] for row in table) for n in range(len(steps.routes))]
    listed: list[list[int]] = [[] for _ in ratios]
    count, over, unknown = [0] * len(ratios), [0] * len(ratios), [0] * len(ratios)
    reached: list[Counter[int]] = [Counter() for _ in steps.routes]  # how many of a route's triggers a step reaches

    def crossed(which: Iterable[int], at: int) -> None:
        for n in which:
            count[n] += 1
            if most is None or len(listed[n]) < most:
                listed[n].append(at)

    before: int | None = None  # total of the step before, None: it was not over, whatever the trigger
    for at, (total, route) in enumerate(zip(steps.total, steps.route, strict=True)):
        if total is None:
            before = None
            continue
        column = columns[route]
        end = column.reached(total)
        reached[route][end] += 1
        if before is None:
            crossed(column.order[:end], at)
        elif steps.route[at - 1] == route:
            crossed(column.order[column.reached(before) : end], at)
        else:
            last = steps.route[at - 1]
            crossed((n for n in column.order[:end] if not _is_over(table[n][last], before)), at)
        before = None if steps.fired[at] else total
    for column, found in zip(columns, reached, strict=True):
        column.add_up(found, over)
    missing = len(steps) - sum(found.total() for found in reached)
    for n, row in enumerate(table):
        unknown[n] = missing + sum(
            found.total() for limit, found in zip(row, reached, strict=True) if limit is None
        )  # fmt: skip
    return [
        Row(ratio, row, tuple(seen), *rest)
        for ratio, row, seen, *rest in zip(ratios, table, listed, count, over, unknown, strict=True)
    ]


def thinned(steps: Trace, most: int = 600) -> list[int]:
    """At most `most` indexes that draw the same curve, in order: of each stretch of steps its highest and lowest, and all
    that really fired (if there are very many, evenly some). A stretch that could not be measured keeps one, for its gap.
    """
    if len(steps) <= most:
        return list(range(len(steps)))
    fired = [n for n, yes in enumerate(steps.fired) if yes]
    kept = set(fired[:: -(-2 * len(fired) // most)] if fired else ())
    stretches = (most - len(kept)) // 3
    for part in range(stretches):
        inside = range(len(steps) * part // stretches, len(steps) * (part + 1) // stretches)
        known = [n for n in inside if steps.total[n] is not None]
        if known:
            kept |= {max(known, key=lambda n: steps.total[n] or 0), min(known, key=lambda n: steps.total[n] or 0)}
        if len(known) < len(inside):
            kept.add(next(n for n in inside if steps.total[n] is None))
    return sorted(kept)


@dataclass(frozen=True, slots=True)
class _Column:
    """The triggers of one route: `order` are the rows that have one, from the lowest trigger up, `keys` those triggers."""

    order: Sequence[int]
    keys: Sequence[int]

    @classmethod
    def of(cls, limits: Iterable[int | None]) -> _Column:
        found = sorted((limit, n) for n, limit in enumerate(limits) if limit is not None)
        return cls([n for _, n in found], [limit for limit, _ in found])

    def reached(self, total: int) -> int:
        """How many triggers a total is at or over; they are the first of `order`."""
        return bisect_right(self.keys, total)

    def add_up(self, found: Counter[int], over: list[int]) -> None:
        """Adds to each row how many steps were over it; `found` counts steps by how many triggers they reached."""
        steps = 0
        for place in range(len(self.order) - 1, -1, -1):
            steps += found[place + 1]
            over[self.order[place]] += steps


def _is_over(limit: int | None, total: int) -> bool:
    return limit is not None and total >= limit
