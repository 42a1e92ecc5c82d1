"""How far the scans of one text look. What lies behind a bound is counted and said, never dropped in silence.

Real blocks stay far below: a megabyte of `ls -l` holds some 35 000 facts. The bounds are there for text made of nothing
but facts (`1个1个1个…`: half a million in a megabyte), which would take seconds and say nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sized

from audit.core.facts.model import MAX_FACTS, MAX_PLACES, Fact


class Reach:
    """The scans of one prepared text share one. `end`: code points from there on are not looked at; `skipped`: spans
    that the path scans passed over (what lies behind the first MAX_RUN code points of a run)."""

    __slots__ = ("end", "skipped")

    def __init__(self, length: int) -> None:
        self.end = length
        self.skipped: list[tuple[int, int]] = []

    def places(self, found: Iterable[re.Match[str]], facts: Sized = ()) -> Iterator[re.Match[str]]:
        """The first MAX_PLACES of the places a scan wants to look at, while `facts`, the list it fills, holds at most
        MAX_FACTS; the text ends for all scans before the next place."""
        left = MAX_PLACES
        for m in found:
            if left == 0 or len(facts) > MAX_FACTS:
                self.stop(m.start())
                return
            left -= 1
            yield m

    def stop(self, at: int) -> None:
        """Nothing at or behind `at` is looked at."""
        self.end = min(self.end, at)

    def bounded(self, facts: list[Fact]) -> list[Fact]:
        """`facts` of the text as far as it is looked at, at most MAX_FACTS: the text ends behind the last of them."""
        if len(facts) > MAX_FACTS:
            facts = sorted(facts, key=lambda f: (f.start, f.end))[:MAX_FACTS]
            self.stop(facts[-1].end)
        return facts

    def passed_over(self) -> int:
        """Code points before `end` in the spans that were skipped."""
        return sum(max(0, min(stop, self.end) - start) for start, stop in self.skipped)
