"""Where in the leaves an asserted fact stands: the sources that support it. Rule: COMPACTION-AUDIT §6, also §2.8 of
AUDIT-REFINEMENTS.

First the extracted facts, then – only for what they do not settle – a search of the texts for the fact's needle.
"""

from __future__ import annotations

from collections.abc import Iterable

from audit.core import facts as factlib
from audit.core.extraction import FactCache
from audit.core.facts import Fact, Haystack
from audit.core.nearby import segments, split_number
from audit.core.pool import Entry, Pool
from audit.core.schema import PATH_CLASSES
from dshweb.sessionlog.core.leaves import Block, Leaf

_WEAK = frozenset({"assistant", "reasoning", "injected"})
# These stand in a text only where extraction finds them; the others count also where they stand literally.
_WHOLLY_EXTRACTED = frozenset({"uuid", "number_unit"})


class Evidence:
    """Answers "which sources hold this fact" for the leaves of one compaction."""

    def __init__(self, pool: Pool, leaves: Iterable[Leaf], cwd: str | None, cache: FactCache) -> None:
        self._pool = pool
        self._cwd = cwd.rstrip("/") if cwd else ""
        self._cache = cache
        self._blocks: dict[str, list[tuple[Block, int]]] = {}
        self._hays: dict[str, list[Haystack]] = {}
        for leaf in leaves:
            for ordinal, block in enumerate(leaf.blocks):
                self._blocks.setdefault(block.source, []).append((block, ordinal))
        self._by_last: dict[str, list[Entry]] = {}
        self._by_number: dict[str, list[Entry]] = {}
        for entry in pool:
            if entry.fact.cls in PATH_CLASSES:
                for last in segments(entry.fact.canon)[-1:]:
                    self._by_last.setdefault(last, []).append(entry)
            elif entry.fact.cls == "number_unit":
                parts = split_number(entry.fact.canon)
                if parts:
                    self._by_number.setdefault(parts[0] + parts[1], []).append(entry)

    def sources(self, fact: Fact) -> frozenset[str]:
        """Sources whose text holds the fact; empty when none does.

        Tool results are searched only when nothing else was found, and for numbers that no more than the assistant
        wrote; otherwise their absence from the set says nothing.
        """
        found = set(self._extracted(fact))
        if (not found or (fact.cls == "number_unit" and found <= _WEAK)) and self._searched(fact, "tool_result"):
            found.add("tool_result")
        if not found and fact.cls not in _WHOLLY_EXTRACTED:
            for source in sorted(self._blocks):
                if source != "tool_result" and self._searched(fact, source):
                    found.add(source)
        if not found and fact.cls == "number_unit":
            for source in sorted(self._blocks):
                if any(factlib.beside_unit(fact, hay) for hay in self._texts(source)):
                    found.add(source)
        return frozenset(found)

    def _extracted(self, fact: Fact) -> Iterable[str]:
        entry = self._pool.get(fact)
        if entry is not None:
            yield from entry.sources
        if fact.cls == "number_unit":
            parts = split_number(fact.canon)
            for other in self._by_number.get(parts[0] + parts[1], ()) if parts else ():
                if factlib.same(fact, other.fact):
                    yield from other.sources
        elif fact.cls in PATH_CLASSES:
            last = segments(fact.canon)[-1:]
            for other in self._by_last.get(last[0], ()) if last else ():
                if same_path(fact, other.fact, self._cwd):
                    yield from other.sources

    def _searched(self, fact: Fact, source: str) -> bool:
        return any(self._cache.holds(hay, fact) for hay in self._texts(source))

    def _texts(self, source: str) -> list[Haystack]:
        hays = self._hays.get(source)
        if hays is None:
            hays = self._hays[source] = self._cache.hays(self._blocks.get(source, ()))
        return hays


def same_path(asked: Fact, leaf: Fact, cwd: str) -> bool:
    """Whether a leaf path holds the asked one: equal, a longer path that ends in it, or the same file under `cwd`."""
    ours, theirs = _bare(asked.canon), _bare(leaf.canon)
    if ours == theirs:
        return True
    if asked.cls == "file_path":
        return theirs.endswith("/" + ours)
    return bool(cwd) and leaf.cls == "file_path" and ours == _bare(cwd) + "/" + theirs


def _bare(canon: str) -> str:
    path = canon.replace("\\", "/")
    while path.startswith("./"):
        path = path[2:]
    return path
