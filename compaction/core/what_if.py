"""The pressure formula over a recorded session, for other settings: where it would have fired, over which range.

Rule: issue 4 F, COMPACTION §8. Arithmetic, not prediction: had it fired, the session would have gone on differently, so
every point is measured on what was recorded, also after one that would have fired.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dshweb.sessionlog.core.events import Event
from dshweb.sessionlog.core.header import Header

from .measure import Measurement
from .replay import Check, Replay
from .select import Refusal, Stretch, select_ends


@dataclass(frozen=True, slots=True)
class Route:
    """What the settings of a request depend on, as the log says at that point; unknown is None.

    `window` is the context window, `max_tokens` what the latest header reserves for the completion.
    """

    provider: str | None
    model: str | None
    window: int | None
    max_tokens: int | None


@dataclass(frozen=True, slots=True)
class Pressure:
    """Where a policy puts its limits on a route: fire from `threshold` tokens on, keep `retain`."""

    threshold: int
    retain: int


@dataclass(frozen=True, slots=True)
class Point:
    """One step boundary. `over` is whether the policy would have fired, None when that cannot be told (no measurement,
    or no limits for the route); `range` what it would have replaced, else `refusal` (both None beyond those asked for).
    `fired` is what really happened.
    """

    seq: int
    turn: int | None
    route: Route
    total: int | None
    measurement: Measurement
    pressure: Pressure | None
    over: bool | None
    fired: bool
    range: Stretch | None
    refusal: Refusal | None


def route_of(replay: Replay) -> Route:
    """The route of the next request."""
    header = replay.meter.header
    if header is None:
        return Route(None, None, replay.meter.window, None)
    return Route(header.provider, header.model, replay.meter.window, header.max_tokens)


def what_if(
    header: Header | None,
    events: Iterable[Event],
    policy: Callable[[Route], Pressure | None],
    *,
    ranges: int | None = None,
    whole: int | None = None,
) -> list[Point]:
    """Every first look at the pressure in a log, judged by `policy`; it gives None where a route has no valid limits.

    The range is selected on the surface as recorded, before any pruning; for the first `ranges` points that are over.
    `whole`: so many events stand in front of the place where rows of the log were lost (None: none were).
    """
    points: list[Point] = []
    selected = 0

    def judge(replay: Replay, check: Check) -> None:
        nonlocal selected
        if check.again:
            return
        route = route_of(replay)
        limits, total = policy(route), check.measure.total
        over = None if limits is None or total is None else total >= limits.threshold
        found: tuple[Stretch | None, Refusal | None] = (None, None)
        if limits is not None and over and (ranges is None or selected < ranges):
            selected += 1
            found = select_ends(replay.meter.surface, limits.retain)
        points.append(Point(
            check.seq, check.turn, route, total, check.measure.measurement, limits, over, check.fired,
            *found,
        ))  # fmt: skip

    replay = Replay(judge)
    replay.start(header)
    for n, event in enumerate(events):
        if n == whole:
            replay.lose_rows()
        replay.feed(event)
    return points
