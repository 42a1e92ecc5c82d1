"""Which facts of the leaves are key, and what they weigh. Rule: COMPACTION-AUDIT §6, AUDIT-REFINEMENTS §2.4, §2.6."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from audit.core import facts as factlib
from audit.core.facts import Fact
from audit.core.policy import Policy
from audit.core.pool import Entry, Mention
from audit.core.schema import ALTERED_BONUS, CLASS_WEIGHT, Tier, best_source

_KEY_SOURCES = frozenset({"human", "assistant", "tool_args", "tool_result"})


@dataclass(frozen=True, slots=True)
class KeyFact:
    """One key fact of the leaves. `kept` says how the summary keeps it, None when it does not; `beside`: canons of lost
    facts on the line of a lost path that are not key alone."""

    entry: Entry
    kept: str | None
    altered: bool
    tier: Tier
    weight: float
    beside: tuple[str, ...] = ()


def is_key(entry: Entry, policy: Policy) -> bool:
    """Whether losing the fact matters: people, the model, arguments or a stated line of a tool hold it."""
    sources = entry.sources & _KEY_SOURCES
    if not sources:
        return False
    if "human" in sources:
        return True
    cls = entry.fact.cls
    if cls in ("datetime", "identifier"):
        return False
    if (
        cls == "hex_hash"
        and sources <= {"tool_result", "tool_args"}
        and all(_inner(mention) for mention in entry.mentions)
    ):
        return False
    if cls == "file_path" and sources == {"tool_args"} and (entry.rows < 2 or "/" not in entry.fact.canon):
        return any(_whole_line(mention) for mention in entry.mentions)
    if cls == "number_unit":
        return entry.rows >= policy.critical_number_count
    if cls in ("version", "port"):
        return not (sources == {"tool_args"} and entry.arguments < 2)
    return True


def _inner(mention: Mention) -> bool:
    """The hex is a piece of a longer dashed name (`pod-6d8f7b9c54-k2x7m`, `vpc-0b7d41c9e2f6a8031`)."""
    at = mention.fact.start
    return at > 1 and mention.block.text[at - 1] == "-" and mention.block.text[at - 2].isalnum()


def _whole_line(mention: Mention) -> bool:
    """The path is an argument of its own, not a word of a command (`python train.py --fast`)."""
    text, fact = mention.block.text, mention.fact
    return text[fact.start - 1 : fact.start] in ("", "\n") and text[fact.end : fact.end + 1] in ("", "\n")


def weight_of(entry: Entry, *, altered: bool) -> float:
    """Class weight times the best source, and a bonus when the summary holds an altered copy."""
    cls = entry.fact.cls
    return CLASS_WEIGHT[cls] * best_source(entry.sources, cls) + (ALTERED_BONUS if altered else 0.0)


def old_values(olds: Collection[str]) -> frozenset[str]:
    """Canons and texts of values that a human replaced; facts that equal one are never key."""
    values: set[str] = set()
    for old in olds:
        values.update(_names_in(old))
    return frozenset(values - {""})


@lru_cache(maxsize=1024)
def _names_in(old: str) -> frozenset[str]:
    return frozenset((old.strip().lower(), *(fact.canon.lower() for fact in factlib.extract(old))))


def names_of(fact: Fact) -> tuple[str, str]:
    """What a replaced value may be called by: a fact's canon, and its text (a port by its digits)."""
    return fact.canon.lower(), fact.text.strip().lower()
