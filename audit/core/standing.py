"""What of a leaf fact does not depend on the summary: worked out once, kept with its entry until it is mentioned again.

Most facts of a long session are lost in every summary, so most of an audit is here (AUDIT-REFINEMENTS §2.6, §2.8).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from audit.core import facts as factlib
from audit.core.keyfacts import KeyFact, is_key, names_of, weight_of
from audit.core.policy import Policy
from audit.core.pool import Entry
from audit.core.schema import ASSISTANT, Signal, Tier, Where, tier_of

_SPOKEN = frozenset({"human", "assistant"})


class Lost(NamedTuple):
    """A row for a lost fact (or demand), the family it may be grouped with, and its place among others of its family."""

    row: Signal
    family: tuple[str, str, Tier] | None
    order: tuple[float, int, int, int]


@dataclass(frozen=True, slots=True)
class Standing:
    """`key`: whether losing the fact matters. `fact` and `lost` are for a summary that neither keeps nor alters it.
    `names` is what a correction may call it, `spoken` the last row listed in which a human or the assistant says it (-1: none).
    """

    key: bool
    fact: KeyFact
    lost: Lost
    names: tuple[str, str]
    spoken: int


def standing_of(entry: Entry, policy: Policy) -> Standing:
    """The standing of an entry under the one policy that its leaves are audited under."""
    found = entry.standing
    if found is None:
        fact = KeyFact(entry, None, altered=False, tier=tier_of(entry.sources), weight=weight_of(entry, altered=False))
        spoken = (mention.block.seq for mention in entry.mentions if mention.block.source in _SPOKEN)
        found = Standing(is_key(entry, policy), fact, _lost(fact), names_of(entry.fact), max(spoken, default=-1))
        entry.standing = found
    return found


def lost_row(fact: KeyFact) -> Lost:
    """The row of a lost fact; facts of humans and altered ones have no family."""
    standing = fact.entry.standing
    return standing.lost if standing is not None and standing.fact is fact else _lost(fact)


def _lost(fact: KeyFact) -> Lost:
    entry = fact.entry
    block = entry.first.block
    only_assistant = entry.fact.cls == "number_unit" and entry.sources <= ASSISTANT
    row = Signal(
        cls=entry.fact.cls,
        text=entry.fact.text,
        canon=entry.fact.canon,
        where=Where("leaf", block.seq, block.index, entry.fact.start, entry.fact.end),
        kind="lost",
        tier=fact.tier,
        sources=tuple(sorted(entry.sources)),
        occurrences=entry.rows,
        weight=fact.weight,
        also=(*(name for name in entry.names if name != entry.fact.canon), *fact.beside),
        altered=fact.altered,
        evidence="assistant_only" if only_assistant else None,
    )
    alone = fact.altered or "human" in entry.sources
    family = None if alone else (entry.fact.cls, factlib.shape(entry.fact), fact.tier)
    return Lost(row, family, (-fact.weight, -entry.rows, block.seq, entry.fact.start))
