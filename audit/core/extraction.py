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
from audit.core.policy import Policy
from audit.core.stated import FACT_ONLY_LINES, FACTS_PER_CLASS, NOT_FROM_CODE, only_facts, stated_lines
from audit.core.statements import Correction, Rule
from dshweb.sessionlog.core.leaves import Block

Key = tuple[object, ...]
HELD_MAX = 4 << 20


@dataclass(frozen=True, slots=True)
class Rules:
    """What of a policy decides which facts a text has."""

    extended: bool = True
    markers: tuple[str, ...] = ()

    def scan(self, text: str) -> factlib.Scan:
        """Facts of a text under these rules, and how much of it was not looked at."""
        return factlib.scan(text, extended=self.extended, markers=self.markers)


def rules_of(policy: Policy) -> Rules:
    """The rules of a policy."""
    return Rules(policy.extended_classes, policy.path_markers)


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
    """What texts and facts say for themselves, kept for all compactions of a log, by the text or fact itself."""

    _blocks: dict[tuple[bool, str], BlockFacts] = field(default_factory=dict)
    _said: dict[str, Said] = field(default_factory=dict)
    _hays: dict[str, Haystack] = field(default_factory=dict)
    _held: int = 0
    _keys: dict[tuple[str, str], frozenset[Key]] = field(default_factory=dict)

    def of(self, block: Block, rules: Rules) -> BlockFacts:
        """Facts of a leaf's block. One cache, one set of rules."""
        key = (block.source == "tool_result", block.text)
        found = self._blocks.get(key)
        if found is None:
            found = self._blocks[key] = block_facts(block, rules)
        return found

    def said(self, text: str) -> Said:
        """Corrections and rules of one human text."""
        found = self._said.get(text)
        if found is None:
            found = self._said[text] = Said(tuple(statements.corrections(text)), tuple(statements.rules(text)))
        return found

    def hay(self, text: str) -> Haystack:
        """A text prepared for searching; texts that summaries share are kept up to HELD_MAX code points."""
        found = self._hays.get(text)
        if found is None:
            found = Haystack(text)
            self._held += len(text)
            if self._held <= HELD_MAX:
                self._hays[text] = found
        return found

    def keys(self, fact: Fact, make: Callable[[Fact], Iterable[Key]]) -> frozenset[Key]:
        """What `make` files a fact under (`nearby`), made once for each class and canon."""
        key = (fact.cls, fact.canon)
        found = self._keys.get(key)
        if found is None:
            found = self._keys[key] = frozenset(make(fact))
        return found


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
