"""Words of the record `audit.signals/1`: classes, weights, tiers, and one Signal as a value.

Rules: COMPACTION-AUDIT §3 and §6 as refined by AUDIT-REFINEMENTS §2.2 and §2.6.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

SCHEMA = "audit.signals/1"
# Raise when the same input may give another record; records of two engines stand side by side, never overwritten.
ENGINE = "1"

CORE_CLASSES = ("uuid", "abs_path", "file_path", "number_unit")
STATEMENT_CLASSES = ("user_correction", "user_rule", "user_quote", "user_consent")
EXTENDED_CLASSES = ("hex_hash", "ip", "port", "version", "datetime", "ticket", "identifier")

CLASS_WEIGHT: dict[str, float] = {
    "user_quote": 6.0,
    "user_consent": 6.0,
    "user_correction": 5.0,
    "user_rule": 5.0,
    "uuid": 3.0,
    "hex_hash": 3.0,
    "abs_path": 2.0,
    "file_path": 2.0,
    "ip": 2.0,
    "port": 2.0,
    "ticket": 2.0,
    "identifier": 2.0,
    "version": 1.5,
    "number_unit": 1.0,
    "datetime": 1.0,
}
ALTERED_BONUS = 4.0
STALE_BONUS = 3.0
PATH_CLASSES = frozenset({"abs_path", "file_path"})
ASSISTANT = frozenset({"assistant", "reasoning"})  # sources that are the assistant's own words

# "verified" only in fidelity.assistantOnly: matched, but by nothing except the assistant's own words.
Kind = Literal["unverified", "altered", "consent", "lost", "stale", "verified"]
Tier = Literal["A", "B", "C"]


@dataclass(frozen=True, slots=True)
class Where:
    """A place: `side` summary or leaf, seq of the row, block index in the row, code points [start, end) in its text."""

    side: Literal["summary", "leaf"]
    seq: int
    block: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Signal:
    """One candidate for review. `occurrences` counts the rows (leaf events or summary blocks) that hold it.

    `also` names facts folded into this row, `family` the members of a grouped row, `near` the closest original.
    """

    cls: str
    text: str
    canon: str
    where: Where
    kind: Kind
    tier: Tier
    sources: tuple[str, ...] = ()
    occurrences: int = 1
    weight: float | None = None
    near: tuple[str, int] | None = None
    found_elsewhere: str | None = None
    altered: bool = False
    also: tuple[str, ...] = ()
    evidence: str | None = None
    family: tuple[str, tuple[str, ...], int] | None = None

    def to_json(self) -> dict[str, Any]:
        """The row as the record holds it; `family.size` counts members beyond those listed."""
        where = self.where
        return {
            "class": self.cls,
            "text": self.text,
            "canon": self.canon,
            "kind": self.kind,
            "tier": self.tier,
            "where": {
                "side": where.side,
                "seq": where.seq,
                "block": where.block,
                "start": where.start,
                "end": where.end,
            },
            "sources": list(self.sources),
            "occurrences": self.occurrences,
            "weight": None if self.weight is None else round(self.weight, 4),
            "near": None if self.near is None else {"canon": self.near[0], "seq": self.near[1]},
            "foundElsewhere": self.found_elsewhere,
            "altered": self.altered,
            "also": list(self.also),
            "evidence": self.evidence,
            "family": None
            if self.family is None
            else {"key": self.family[0], "members": list(self.family[1]), "size": self.family[2]},
        }

    def with_also(self, canons: tuple[str, ...]) -> Signal:
        """This row with more folded facts, each once, in order."""
        return replace(self, also=tuple(dict.fromkeys((*self.also, *canons))))


def best_source(sources: frozenset[str] | set[str] | tuple[str, ...], cls: str) -> float:
    """Weight of the best source: human 3, assistant 2, tool_args 1.5 (paths 1.0), else 1.0."""
    if "human" in sources:
        return 3.0
    if "assistant" in sources:
        return 2.0
    if "tool_args" in sources and cls not in PATH_CLASSES:
        return 1.5
    return 1.0


def tier_of(sources: frozenset[str] | set[str] | tuple[str, ...], *, altered: bool = False) -> Tier:
    """A: a human wrote it, or it was altered. B: the assistant wrote it. C: only tools did."""
    if altered or "human" in sources:
        return "A"
    return "B" if "assistant" in sources else "C"
