"""Texts of leaf blocks joined for searching, by source, as the leaves grow. Rule: AUDIT-REFINEMENTS §2.8.

Joining makes the cost of a search follow the size of the text, not the number of blocks. What a text said once it was full
it says for good, so a fact that summary after summary names is looked for in new text only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Self

from audit.core import facts as factlib
from audit.core.extraction import FactCache, Rules
from audit.core.facts import Fact, Haystack
from dshweb.sessionlog.core.leaves import Leaf

JOINED_MAX = 1 << 16
HELD_MAX = 32 << 20  # code points of prepared texts kept; what comes behind is prepared anew for each fact

How = Literal["occurs", "beside"]


class Joined:
    """Texts one after the other in prepared pieces of about JOINED_MAX code points; the last one is still open."""

    def __init__(self) -> None:
        self._full: list[Haystack | str] = []
        self._open: list[str] = []
        self._size = 0
        self._held = 0
        self._last: Haystack | None = None
        # For a fact: how many full texts were searched in vain, -1 when one of them has it.
        self._searched: dict[tuple[How, str, str, str], int] = {}

    def add(self, text: str) -> None:
        if self._open and self._size + len(text) > JOINED_MAX:
            self._close()
        self._open.append(text[: factlib.MAX_BLOCK])
        self._size += len(self._open[-1]) + 1
        self._last = None

    def _close(self) -> None:
        self._held += self._size
        self._full.append(self._ready() if self._held <= HELD_MAX else "\n".join(self._open))
        self._open, self._size, self._last = [], 0, None

    def _ready(self) -> Haystack:
        if self._last is None:
            self._last = Haystack("\n".join(self._open))
        return self._last

    def holds(self, fact: Fact) -> bool:
        """Whether one of the texts has the fact."""
        return self._any("occurs", fact, factlib.probe(fact), lambda hay: factlib.occurs_in(fact, hay))

    def holds_beside(self, fact: Fact) -> bool:
        """Whether a number stands in one of the texts apart from its unit."""
        return self._any("beside", fact, "", lambda hay: factlib.beside_unit(fact, hay))

    def _any(self, how: How, fact: Fact, probe: str, test: Callable[[Haystack], bool]) -> bool:
        key = (how, fact.cls, fact.text, fact.canon)
        done = self._searched.get(key, 0)
        if done < 0:
            return True
        # the newest text first: a summary speaks of what came last
        if self._open and probe in self._ready().lower and test(self._ready()):
            return True
        for hay in reversed(self._full[done:]):
            if isinstance(hay, str):
                if hay.isascii() and probe not in hay.lower():
                    continue
                hay = Haystack(hay)
            if probe in hay.lower and test(hay):
                self._searched[key] = -1
                return True
        self._searched[key] = len(self._full)
        return False


class LeafTexts:
    """All texts of the leaves, by source."""

    def __init__(self) -> None:
        self.of: dict[str, Joined] = {}

    @classmethod
    def empty(cls, _cache: FactCache, _rules: Rules) -> Self:
        return cls()

    def add(self, leaf: Leaf) -> None:
        for block in leaf.blocks:
            found = self.of.get(block.source)
            if found is None:
                found = self.of[block.source] = Joined()
            found.add(block.text)
