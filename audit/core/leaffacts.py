"""All facts of the leaves, gathered as the leaves grow, and where to look among them.

A relative path and the one longer path it names are one entry (AUDIT-REFINEMENTS §2.6 Aliases). Which path that is may change
with every new leaf, so entries are gathered apart and merged for each compaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Self

from audit.core import facts as factlib
from audit.core.extraction import FactCache, Rules
from audit.core.nearby import segments, split_number
from audit.core.pool import Entry, Pool
from audit.core.schema import PATH_CLASSES
from dshweb.sessionlog.core.leaves import Leaf

Name = tuple[str, str]
GRAM = 4


class LeafFacts:
    """A `Part` of leaves: `pool` is made by `merged`, `under_last` and `under_number` ask it by index.

    The indexes hold names as gathered: `paths` by last segment, `numbers` by digits and multiplier, `bare` by the last three
    digits, `grams` by the first GRAM code points of the word that a text with the fact must hold; `unfiled` have none.
    """

    def __init__(self, cache: FactCache, rules: Rules) -> None:
        self._cache, self._rules = cache, rules
        self._apart = Pool()
        self.paths: dict[str, list[Name]] = {}
        self.numbers: dict[str, list[Name]] = {}
        self.bare: dict[str, list[Name]] = {}
        self.grams: dict[str, list[Name]] = {}
        self.unfiled: list[Name] = []
        self._aliases: tuple[int, str | None, dict[Name, Name]] = (0, None, {})
        self._merged: dict[Name, tuple[tuple[int, ...], tuple[Name, ...], Entry]] = {}
        self.pool = Pool()

    @classmethod
    def empty(cls, cache: FactCache, rules: Rules) -> Self:
        return cls(cache, rules)

    def add(self, leaf: Leaf) -> None:
        for block in leaf.blocks:
            found = self._cache.of(block, self._rules)
            for name in self._apart.add(block, found.facts):
                self._index(name)
            if found.unread:
                self._apart.cut.append((block.seq, block.index, found.unread))

    def _index(self, name: Name) -> None:
        fact = self._apart.entries[name].fact
        if fact.cls == "number_unit":
            parts = split_number(fact.canon)
            if parts:
                self.numbers.setdefault(parts[0] + parts[1], []).append(name)
            digits = factlib.last_digits(fact)
            if digits:
                self.bare.setdefault(digits, []).append(name)
            return
        if fact.cls in PATH_CLASSES:
            for last in segments(fact.canon)[-1:]:
                self.paths.setdefault(last, []).append(name)
        word = factlib.word(fact)
        if len(word) < GRAM:
            self.unfiled.append(name)
        else:
            self.grams.setdefault(word[:GRAM], []).append(name)

    def merged(self, cwd: str | None) -> Pool:
        """The pool with aliases merged, for a session that works in `cwd`; good until leaves are added."""
        pool = Pool()
        pool.entries = dict(self._apart.entries)
        pool.cut = self._apart.cut
        groups: dict[Name, list[Name]] = {}
        for short, long in sorted(self._aliases_in(cwd).items()):
            if short != long and short in pool.entries and long in pool.entries:
                groups.setdefault(long, []).append(short)
        for long, shorts in groups.items():
            pool.entries[long] = self._one(long, tuple(shorts))
            for short in shorts:
                del pool.entries[short]
        self.pool = pool
        return pool

    def _aliases_in(self, cwd: str | None) -> dict[Name, Name]:
        count = sum(map(len, self.paths.values()))
        if self._aliases[:2] != (count, cwd):
            facts = [entry.fact for name, entry in self._apart.entries.items() if name[0] in PATH_CLASSES]
            self._aliases = (count, cwd, factlib.aliases(facts, cwd))
        return self._aliases[2]

    def _one(self, long: Name, shorts: tuple[Name, ...]) -> Entry:
        """The entry of a path with its aliases; the same one while none of them was mentioned again."""
        entries = [self._apart.entries[name] for name in (long, *shorts)]
        times = tuple(entry.times for entry in entries)
        known = self._merged.get(long)
        if known is not None and known[:2] == (times, shorts):
            return known[2]
        whole = entries[0].copy()
        for entry in entries[1:]:
            whole.absorb(entry)
        self._merged[long] = (times, shorts, whole)
        return whole

    def under_last(self, last: str) -> Iterator[Entry]:
        """Paths of the pool by their last segment."""
        for entry in self._now(self.paths.get(last, ())):
            if segments(entry.fact.canon)[-1:] == [last]:
                yield entry

    def under_number(self, number: str) -> Iterator[Entry]:
        """Numbers of the pool with these digits and multiplier (`64k`), whatever is counted."""
        return self._now(self.numbers.get(number, ()))

    def _now(self, names: Iterable[Name]) -> Iterator[Entry]:
        """Entries that hold what was gathered under these names."""
        for name in names:
            entry = self.pool.entries.get(self.name_in_pool(name))
            if entry is not None:
                yield entry

    def name_in_pool(self, name: Name) -> Name:
        """Where the pool files what was gathered under `name`: there, or under the path it is an alias of."""
        return name if name in self.pool.entries else self._aliases[2].get(name, name)
