"""What else stood on the line of a lost path and is gone too: `stored under /srv/a.json and takes 21 MiB`.

A number that the assistant wrote once is no key fact; next to a path that is lost it tells the reviewer what else went.
It gets no row and no score of its own (COMPACTION-AUDIT §3: a row's `also`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence

from audit.core.facts import Fact
from audit.core.pool import Entry

LINE_MAX = 400
NAMED = 8
MAX_LOOKUPS = 2000
"""Facts looked for in the summary, first come first served: each costs a search of it."""


class Beside:
    """Entries that are no key facts, by the block and place of their first mention."""

    def __init__(self, entries: Sequence[Entry], paths: Iterable[Entry], lost: Callable[[Fact], bool]) -> None:
        """`paths` are the entries that will be asked for."""
        self._lost = lost
        self._by_block: dict[int, list[tuple[int, int]]] = {id(path.first.block): [] for path in paths}
        self._entries = entries
        self._left = MAX_LOOKUPS
        self._known: dict[int, bool] = {}
        for at, entry in enumerate(entries):
            places = self._by_block.get(id(entry.first.block))
            if places is not None:
                places.append((entry.fact.start, at))
        for places in self._by_block.values():
            places.sort()

    def of(self, entry: Entry) -> tuple[str, ...]:
        """Canons of at most NAMED such facts on the line of this one's first mention, in order; long lines have none."""
        places = self._by_block.get(id(entry.first.block))
        if not places:
            return ()
        text, fact = entry.first.block.text, entry.first.fact
        start = text.rfind("\n", max(0, fact.start - LINE_MAX), fact.start) + 1
        end = text.find("\n", fact.end, fact.end + LINE_MAX)
        end = len(text) if end < 0 else end
        if (start == 0 and fact.start > LINE_MAX) or end - start > LINE_MAX:
            return ()
        found: list[str] = []
        for place, at in places[bisect_left(places, (start, -1)) :]:
            if place >= end or len(found) >= NAMED:
                break
            if self._is_lost(at):
                found.append(self._entries[at].fact.canon)
        return tuple(dict.fromkeys(found))

    def _is_lost(self, at: int) -> bool:
        if at not in self._known:
            if not self._left:
                return False
            self._left -= 1
            self._known[at] = self._lost(self._entries[at].fact)
        return self._known[at]
