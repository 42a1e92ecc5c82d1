"""How far the scans of one text look. What lies behind a bound is counted and said, never dropped in silence.

Real blocks stay below: measured, a megabyte of `ls -lR` holds 25 000 facts and 37 000 places of numbers, one of minified
code 18 000 places of paths. The bounds are there for text made of nothing else (`1个1个1个…`: half a million facts in a
megabyte), which would take seconds and say nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from audit.core.facts.model import MAX_FACTS, MAX_PLACES, MAX_WORK, Fact

FEWEST = MAX_PLACES // 5
PATH_WEIGHT = 4  # a place of a path costs as much as four of a number


class Reach:
    """The scans of one prepared text share one. `end`: code points from there on are not looked at; `skipped`: spans
    that the path scans passed over (what lies behind the first MAX_RUN code points of a run)."""

    __slots__ = ("_left", "end", "skipped")

    def __init__(self, length: int, *, work: int = MAX_WORK) -> None:
        self.end = length
        self.skipped: list[tuple[int, int]] = []
        self._left = work

    def _most(self, weight: int) -> int:
        return min(MAX_PLACES, max(FEWEST, self._left // weight))

    def turns(self, weight: int) -> Iterator[None]:
        """As many times as a scan may look at a place; `weight`: how dear a place is. A scan that uses them up stops
        the text there for all. MAX_PLACES, or fewer when earlier scans spent most of the work, never below FEWEST."""
        for _ in range(self._most(weight)):
            yield
            self._left -= weight

    def places(self, found: Iterable[re.Match[str]], group: int = 0) -> Iterator[re.Match[str]]:
        """The places of a scan, as many as it has turns; the text ends before (the group of) the next one."""
        left = self._most(1)
        for m in found:
            if not left:
                self.stop(m.start(group))
                return
            left -= 1
            yield m
            self._left -= 1

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
