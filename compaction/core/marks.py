"""What is worth a mark on a session's compactions: how full it was, one soon after another, one without effect.

Rules: issue 4 F; field reports FR-022 (fill at the moment), FR-023 (oscillation), FR-025 (the next real request is as
large as before), FR-031 and FR-032 (unknown stays unknown, unlike numbers are not subtracted).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from dshweb.sessionlog.core.events import Event
from dshweb.sessionlog.core.header import Header

from . import last
from .carrier import members
from .measure import usage_prompt
from .replay import Replay
from .what_if import Route, route_of

SOON_ANSWERS: Final = 3
"""A compaction that starts at most so many answers after the last one is marked (ours: FR-023 says "within N steps")."""
NO_EFFECT: Final = 0.95
"""A next request at least so large, compared with the measure before, is marked (ours: FR-025 shows 790/800)."""


@dataclass(frozen=True, slots=True)
class Marked:
    """One attempt. `fill` is before / window of the route at that moment, with `measurement` saying what before rests on.

    `after_measurement` and `saved` belong to the moment of the replacement; `saved` None when the two sides rest on
    different kinds of numbers. `answers_since`: answers since the last completed one, None for the first.
    `prompt_before` and `prompt_after` are input tokens (cached ones too) that the provider counted for the last request
    before and the first after it. `soon` and `no_effect` None: cannot be told.
    """

    compaction: last.LastCompaction
    start_seq: int
    turn: int | None
    route: Route
    measurement: str | None
    fill: float | None
    after_measurement: str | None
    saved: int | None
    answers_since: int | None
    prompt_before: int | None
    prompt_after: int | None

    @property
    def soon(self) -> bool | None:
        """Whether it came within a few answers of the one before."""
        return None if self.answers_since is None else self.answers_since <= SOON_ANSWERS

    @property
    def no_effect(self) -> bool | None:
        """Whether the next real request was about as large as what a completed compaction had begun with.

        Both must rest on the provider's counting; the request before the compaction does not hold what came after it,
        so the measure is what counts.
        """
        before = self.compaction.before_tokens
        if self.compaction.status != "completed" or self.measurement != "measured":
            return None
        return None if not before or self.prompt_after is None else self.prompt_after >= NO_EFFECT * before


@dataclass(slots=True)
class _Open:
    bracket: last.Bracket
    route: Route
    answers_since: int | None
    prompt_before: int | None
    prompt_after: int | None = None
    after_measurement: str | None = None


def marks(header: Header | None, events: Iterable[Event], *, whole: int | None = None) -> list[Marked]:
    """Every attempt of a log, in order. `whole` as in `what_if`."""
    replay = Replay()
    replay.start(header)
    found: list[_Open] = []
    answers: int | None = None
    prompt: int | None = None
    for n, event in enumerate(events):
        if n == whole:
            replay.lose_rows()
        route = route_of(replay) if event.type == "compaction/start" else None
        replay.feed(event)
        current = found[-1] if found else None
        if event.type == "assistant/message":
            answers = None if answers is None else answers + 1
            counted = usage_prompt(members(event).get("usage"))
            prompt = prompt if counted is None else counted
            if current is not None and current.prompt_after is None and current.bracket.ended:
                current.prompt_after = counted
        elif route is not None and replay.last is not None:
            found.append(_Open(replay.last, route, answers, prompt))
        elif current is not None and event.seq == current.bracket.checkpoint_seq:
            current.after_measurement = replay.measure().measurement
        elif (
            event.type == "compaction/end"
            and current is not None
            and current.bracket.ended
            and not current.bracket.error
        ):
            answers = 0
    return [_marked(each) for each in found]


def _marked(each: _Open) -> Marked:
    bracket = each.bracket
    window, before, after = each.route.window, bracket.before_tokens, bracket.after_tokens
    alike = bracket.before_measurement == each.after_measurement
    return Marked(
        compaction=last.told(bracket),
        start_seq=bracket.start_seq,
        turn=bracket.turn,
        route=each.route,
        measurement=bracket.before_measurement,
        fill=None if before is None or not window else before / window,
        after_measurement=each.after_measurement,
        saved=before - after if before is not None and after is not None and alike else None,
        answers_since=each.answers_since,
        prompt_before=each.prompt_before,
        prompt_after=each.prompt_after,
    )
