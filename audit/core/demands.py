"""Corrections and rules that humans stated, and whether the summary keeps them. Rule: AUDIT-REFINEMENTS §2.5."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from audit.core import statements
from audit.core.extraction import FactCache, Rules
from audit.core.facts import extract
from audit.core.schema import CLASS_WEIGHT, STALE_BONUS, Kind, Signal, Where, best_source
from audit.core.statements import Correction, Rule
from dshweb.sessionlog.core.leaves import Block, Leaf

_EARLIER = 400
# Look-ups of a term in a line of the summary for all demands of an audit, some 5 µs each; a demand that needs more than
# what is left is not judged. A busy session (200 rules, a summary of 300 lines) needs some 60 000.
EFFORT = 100_000
_CHARS = 100  # code points of summary that cost a correction as much as one look-up


@dataclass(frozen=True, slots=True)
class Demand:
    """One correction or rule with where it stands and what became of it; `scored` False: listed, never counted."""

    what: Correction | Rule
    block: Block
    status: str
    scored: bool

    @property
    def cls(self) -> str:
        return "user_correction" if isinstance(self.what, Correction) else "user_rule"

    @property
    def weight(self) -> float:
        return CLASS_WEIGHT[self.cls] * best_source({"human"}, self.cls) + (
            STALE_BONUS if self.status == "stale" else 0.0
        )

    def row(self) -> Signal:
        """The signal of a demand that was lost or whose old value survived."""
        what = self.what
        kind: Kind = "stale" if self.status == "stale" else "lost"
        return Signal(
            cls=self.cls,
            text=what.text,
            canon=what.canon if isinstance(what, Correction) else " ".join(what.text.split()),
            where=Where("leaf", self.block.seq, self.block.index, what.start, what.end),
            kind=kind,
            tier="A",
            sources=("human",),
            also=_plain_pair(what) if isinstance(what, Correction) else (),
            weight=self.weight,
        )


def _plain_pair(correction: Correction) -> tuple[str, ...]:
    """`15 minutes→25 minutes` also as `15 min→25 min`, when the terms are facts."""
    plain = "→".join(_plain(term) for term in correction.canon.split("→"))
    return () if plain == correction.canon else (plain,)


def _plain(term: str) -> str:
    found = extract(term)
    return found[0].canon if len(found) == 1 and found[0].text.strip() == term.strip() else term


@dataclass(slots=True)
class Demands:
    """All demands in order, and the values that corrections replaced. `unjudged` of them came when EFFORT was spent."""

    items: list[Demand] = field(default_factory=list)
    olds: list[str] = field(default_factory=list)
    unjudged: int = 0
    effort: int = EFFORT

    def spends(self, effort: int) -> bool:
        """Whether there is effort left for one more demand; takes it, or counts the demand as not judged."""
        if effort > self.effort:
            self.unjudged += 1
            return False
        self.effort -= effort
        return True


class Stated:
    """What the humans of some leaves demand, before any summary is looked at; a `Part` of leaves.

    `asked` holds each demand once, in order, with the block that states it first; `olds` what corrections replaced.
    """

    def __init__(self, cache: FactCache) -> None:
        self.asked: list[tuple[Correction | Rule, Block]] = []
        self.olds: list[str] = []
        self._cache = cache
        self._earlier: deque[str] = deque(maxlen=_EARLIER)
        self._seen: set[tuple[str, str]] = set()

    @classmethod
    def empty(cls, cache: FactCache, _rules: Rules) -> Self:
        return cls(cache)

    def add(self, leaf: Leaf) -> None:
        for block in leaf.blocks:
            if block.source == "human":
                self._hear(block)
            if block.source in ("human", "assistant"):
                self._earlier.append(block.text)

    def _hear(self, block: Block) -> None:
        said = self._cache.said(block.text)
        for found in said.corrections:
            correction = statements.resolve_old_values(found, self._earlier)
            self.olds += [old for old in (correction.old, *correction.old_values) if old]
            self._ask(("c", correction.canon), correction, block)
        for rule in said.rules:
            self._ask(("r", " ".join(rule.text.split()).lower()), rule, block)

    def _ask(self, name: tuple[str, str], what: Correction | Rule, block: Block) -> None:
        if name not in self._seen:
            self._seen.add(name)
            self.asked.append((what, block))


def demands(stated: Stated, summary: Sequence[str], trusted: Sequence[str]) -> Demands:
    """Judge what humans corrected or ruled.

    Rules are looked for in `trusted`: the summary without claims about the user that have no source.
    """
    result = Demands(olds=stated.olds)
    for what, block in stated.asked:
        if isinstance(what, Correction):
            scored = what.scored and statements.correction_scorable(what, summary)
            scored = scored and result.spends(1 + sum(map(len, summary)) // _CHARS)
            status = statements.correction_kept(what, summary) if scored else "unscored"
            result.items.append(Demand(what, block, status, scored))
        else:
            judged = result.spends(statements.effort(what, trusted))
            kept = statements.rule_kept(what, trusted, summary) if judged else None
            status = "unscored" if kept is None else "kept" if kept else "lost"
            result.items.append(Demand(what, block, status, kept is not None))
    result.items = _without_replaced(result.items)
    return result


def _without_replaced(items: list[Demand]) -> list[Demand]:
    """A correction whose new value a later one replaced again is no longer demanded."""
    later: set[str] = set()
    kept: list[Demand] = []
    for item in reversed(items):
        if isinstance(item.what, Correction):
            if item.what.new and item.what.new in later:
                item = replace(item, status="replaced", scored=False)
            if isinstance(item.what, Correction) and item.what.old:
                later.add(item.what.old)
        kept.append(item)
    return kept[::-1]
