"""Facts of one leaf block, extracted once for all compactions of a log. Rule: AUDIT-REFINEMENTS §2.6 and §2.8.

Whole text for everything that people, the model and arguments wrote; for tool results only the stated lines.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from audit.core import facts as factlib
from audit.core import statements
from audit.core.facts import Fact, Haystack
from audit.core.stated import FACT_ONLY_LINES, FACTS_PER_CLASS, NOT_FROM_CODE, only_facts, stated_lines
from audit.core.statements import Correction, Rule
from dshweb.sessionlog.core.leaves import Block

Key = tuple[object, ...]
_Key = tuple[int, int, str, int]
HELD_MAX = 32 << 20
JOINED_MAX = 1 << 16


@dataclass(frozen=True, slots=True)
class Rules:
    """What of a policy decides which facts a text has."""

    extended: bool = True
    markers: tuple[str, ...] = ()

    def scan(self, text: str) -> factlib.Scan:
        """Facts of a text under these rules, and how much of it was not looked at."""
        return factlib.scan(text, extended=self.extended, markers=self.markers)


@dataclass(frozen=True, slots=True)
class BlockFacts:
    """Facts of a block in order of place; `unread` code points lie behind a bound and were not looked at."""

    facts: tuple[Fact, ...]
    unread: int


@dataclass(frozen=True, slots=True)
class Said:
    """What one human message corrects and rules."""

    corrections: tuple[Correction, ...]
    rules: tuple[Rule, ...]


@dataclass(slots=True)
class FactCache:
    """Block facts of ONE log, kept while its compactions are audited: nested compactions share their leaves.

    Do not share one between logs, between readings of a log that changed, or between policies.
    """

    _blocks: dict[_Key, BlockFacts] = field(default_factory=dict)
    _hays: dict[tuple[_Key, ...], Haystack] = field(default_factory=dict)
    _said: dict[_Key, Said] = field(default_factory=dict)
    _found: dict[tuple[str, str, int], bool] = field(default_factory=dict)
    _keys: dict[tuple[str, str], frozenset[Key]] = field(default_factory=dict)
    _kept: set[int] = field(default_factory=set)
    _held: int = 0

    def of(self, block: Block, ordinal: int, rules: Rules) -> BlockFacts:
        """Facts of a leaf's block; `ordinal` is its place in the leaf (several pieces may share one index)."""
        key = _key(block, ordinal)
        found = self._blocks.get(key)
        if found is None:
            found = self._blocks[key] = block_facts(block, rules)
        return found

    def said(self, block: Block, ordinal: int) -> Said:
        """Corrections and rules of one human block."""
        key = _key(block, ordinal)
        found = self._said.get(key)
        if found is None:
            found = Said(tuple(statements.corrections(block.text)), tuple(statements.rules(block.text)))
            self._said[key] = found
        return found

    def keys(self, fact: Fact, make: Callable[[Fact], Iterable[Key]]) -> frozenset[Key]:
        """What `make` files a fact under (`nearby`), made once for each class and canon."""
        key = (fact.cls, fact.canon)
        found = self._keys.get(key)
        if found is None:
            found = self._keys[key] = frozenset(make(fact))
        return found

    def holds(self, hay: Haystack, fact: Fact) -> bool:
        """Whether a prepared text holds a fact; answers for kept texts are kept, as summaries repeat themselves."""
        if id(hay) not in self._kept:
            return factlib.occurs_in(fact, hay)
        key = (*factlib.key(fact), id(hay))
        answer = self._found.get(key)
        if answer is None:
            answer = self._found[key] = factlib.occurs_in(fact, hay)
        return answer

    def hays(self, blocks: Sequence[tuple[Block, int]]) -> list[Haystack]:
        """Texts of blocks (with their ordinals) prepared for searching, small ones joined by line ends.

        Joining makes the cost of a search follow the size of the text, not the number of blocks; compactions that
        share their first blocks share the joined texts. Kept while all kept texts are within `HELD_MAX` code points.
        """
        made: list[Haystack] = []
        batch: list[tuple[Block, int]] = []
        size = 0
        for block, ordinal in blocks:
            if batch and size + len(block.text) > JOINED_MAX:
                made.append(self._joined(batch))
                batch, size = [], 0
            batch.append((block, ordinal))
            size += min(len(block.text), factlib.MAX_BLOCK) + 1
        if batch:
            made.append(self._joined(batch))
        return made

    def _joined(self, batch: list[tuple[Block, int]]) -> Haystack:
        key = tuple(_key(block, ordinal) for block, ordinal in batch)
        found = self._hays.get(key)
        if found is None:
            found = Haystack("\n".join(block.text[: factlib.MAX_BLOCK] for block, _ in batch))
            self._held += len(found.text)
            if self._held <= HELD_MAX:
                self._hays[key] = found
                self._kept.add(id(found))
        return found


def _key(block: Block, ordinal: int) -> _Key:
    return (block.seq, ordinal, block.source, len(block.text))


def block_facts(block: Block, rules: Rules) -> BlockFacts:
    """Extract the facts of a block that may count."""
    if block.source == "tool_result":
        return _stated_facts(block.text, rules)
    found = rules.scan(block.text)
    return BlockFacts(tuple(found.facts), found.unread)


def _stated_facts(text: str, rules: Rules) -> BlockFacts:
    """Facts on stated lines, offsets in the whole text, without lists of facts and classes that flood the block."""
    unread = max(0, len(text) - factlib.MAX_BLOCK)
    lines = stated_lines(text[: factlib.MAX_BLOCK])
    if not lines:
        return BlockFacts((), unread)
    starts: list[int] = []
    length = 0
    for line in lines:
        starts.append(length)
        length += len(line.text) + 1
    by_line: dict[int, list[Fact]] = {}
    scan = rules.scan("\n".join(line.text for line in lines))
    for fact in scan.facts:
        at = bisect_right(starts, fact.start) - 1
        by_line.setdefault(at, []).append(fact)
    bare = {at for at, found in by_line.items() if _bare(lines[at].text, starts[at], found)}
    skipped = bare if len(bare) >= FACT_ONLY_LINES else set()
    kept: list[Fact] = []
    for at, found in sorted(by_line.items()):
        if at in skipped:
            continue
        shift = lines[at].start - starts[at]
        for fact in found:
            if not (lines[at].code and fact.cls in NOT_FROM_CODE):
                kept.append(replace(fact, start=fact.start + shift, end=fact.end + shift))
    counts = Counter(fact.cls for fact in kept)
    return BlockFacts(tuple(fact for fact in kept if counts[fact.cls] <= FACTS_PER_CLASS), unread + scan.unread)


def _bare(line: str, start: int, found: Sequence[Fact]) -> bool:
    return only_facts(line, [(fact.start - start, fact.end - start) for fact in found])
