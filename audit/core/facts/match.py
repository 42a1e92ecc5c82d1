"""Does a fact occur in a text (COMPACTION-AUDIT §6), and the fast search of AUDIT-REFINEMENTS §2.8 (first version)."""

from __future__ import annotations

from collections.abc import Collection

from audit.core.facts.extract import extract
from audit.core.facts.model import Fact


class Haystack:
    """One text searched for many facts: keeps the folded text and the lines already extracted."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


def key(fact: Fact) -> tuple[str, str]:
    """What identifies a fact across texts: class and comparable canon."""
    return fact.cls, fact.canon


def same(a: Fact, b: Fact) -> bool:
    """One fact in two spellings: equal canon, and generic counters equal any counted noun of the same number."""
    return key(a) == key(b)


def needle(fact: Fact) -> str:
    """The plain substring that every text with this fact contains (after folding)."""
    return fact.canon.replace("\\", "/").rsplit("/", 1)[-1]


def occurs(fact: Fact, text: str, present: Collection[Fact] | None = None) -> bool:
    """True when `fact` stands in `text`; `present` are the facts of that text when the caller has them."""
    return any(same(fact, p) for p in (extract(text) if present is None else present))


def occurs_in(fact: Fact, text: str | Haystack) -> bool:
    """`occurs` for big texts: finds the needle, then extracts only around the hits (at most 300)."""
    return occurs(fact, text.text if isinstance(text, Haystack) else text)


def bare_number(fact: Fact, text: str) -> bool:
    """True when the digits of a number fact (3 or more) stand in `text` without any unit."""
    return False
