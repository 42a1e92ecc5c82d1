"""All facts of one side of an audit – the leaves, or the summary – by class and canon, with where each one stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from audit.core import facts as factlib
from audit.core.facts import Fact
from dshweb.sessionlog.core.leaves import Block

if TYPE_CHECKING:
    from audit.core.standing import Standing

_LISTED = 12
_RANK = {"human": 0, "assistant": 1, "tool_args": 2, "tool_result": 3, "reasoning": 4, "injected": 5}


@dataclass(frozen=True, slots=True)
class Mention:
    """One occurrence of a fact, in a block."""

    fact: Fact
    block: Block


@dataclass(slots=True)
class Entry:
    """One fact of a side. `first` is its earliest mention by the best source; `rows` counts rows that hold
    it, `times` its mentions; `names` are the canons of
    paths merged into one."""

    first: Mention
    fact: Fact = field(init=False)  # of `first`
    rows: int = 0
    times: int = 0
    sources: set[str] = field(default_factory=set)
    mentions: list[Mention] = field(default_factory=list)
    last_seq: int = -1
    arguments: int = 0
    names: tuple[str, ...] = ()
    # What others made of this entry alone; gone when it is mentioned again.
    standing: Standing | None = field(default=None, compare=False, repr=False)
    labels: list[str | None] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        self.fact = self.first.fact

    def add(self, fact: Fact, block: Block) -> None:
        """Count one more mention. Rows arrive in seq order, so a row is new when its seq is not the last one."""
        self.standing = self.labels = None
        self.sources.add(block.source)
        self.times += 1
        if block.seq != self.last_seq:
            self.rows += 1
            self.last_seq = block.seq
        if block.source == "tool_args":
            self.arguments += 1
        if len(self.mentions) < _LISTED:
            self.mentions.append(Mention(fact, block))
        if _RANK[block.source] < _RANK[self.first.block.source]:
            self.first, self.fact = Mention(fact, block), fact

    def absorb(self, other: Entry) -> None:
        """Take over another entry of the same thing; rows that held both names count twice."""
        self.standing = self.labels = None
        self.rows += other.rows
        self.times += other.times
        self.sources |= other.sources
        self.arguments += other.arguments
        self.names = tuple(dict.fromkeys((*self.names, self.fact.canon, other.fact.canon, *other.names)))
        if _RANK[other.first.block.source] < _RANK[self.first.block.source]:
            self.first, self.fact = other.first, other.fact
        self.mentions = sorted((*self.mentions, *other.mentions), key=_place)[:_LISTED]

    def copy(self) -> Entry:
        """The same entry, to be changed without changing this one."""
        return replace(self, sources=set(self.sources), mentions=list(self.mentions))


def _place(mention: Mention) -> tuple[int, int, int]:
    return (mention.block.seq, mention.block.index, mention.fact.start)


class Pool:
    """Facts of a side, in order of first mention."""

    def __init__(self) -> None:
        self.entries: dict[tuple[str, str], Entry] = {}
        self.cut: list[tuple[int, int, int]] = []  # (seq, block index, code points not looked at)

    def add(self, block: Block, facts: Iterable[Fact]) -> list[tuple[str, str]]:
        """Count the facts of a block. Returns the names that are new."""
        new: list[tuple[str, str]] = []
        for fact in facts:
            key = factlib.key(fact)
            entry = self.entries.get(key)
            if entry is None:
                entry = self.entries[key] = Entry(Mention(fact, block))
                new.append(key)
            entry.add(fact, block)
        return new

    def get(self, fact: Fact) -> Entry | None:
        return self.entries.get(factlib.key(fact))

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries.values())

    def __len__(self) -> int:
        return len(self.entries)
