"""Fidelity axis: is every verifiable assertion of the summary found in the leaves? Rule: COMPACTION-AUDIT §6."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from audit.core import facts as factlib
from audit.core.case import AuditCase, Elsewhere
from audit.core.evidence import Evidence
from audit.core.extraction import FactCache
from audit.core.facts import Fact, Haystack
from audit.core.growing import Growing
from audit.core.joined import LeafTexts
from audit.core.leaffacts import LeafFacts
from audit.core.nearby import Nearby
from audit.core.policy import Policy
from audit.core.pool import Entry, Pool
from audit.core.ranking import capped, ranked_unverified
from audit.core.schema import (
    ALTERED_BONUS,
    ASSISTANT,
    CLASS_WEIGHT,
    CORE_CLASSES,
    EXTENDED_CLASSES,
    Kind,
    Signal,
    Where,
    tier_of,
)
from audit.core.userlines import Judged, judged_lines


@dataclass(slots=True)
class Fidelity:
    """The axis before it is written down: every row uncut, and each asserted fact with the sources that hold it."""

    rows: list[Signal] = field(default_factory=list)
    assistant_only: list[Signal] = field(default_factory=list)
    facts: list[tuple[Entry, frozenset[str]]] = field(default_factory=list)
    lines: list[Judged] = field(default_factory=list)
    altered_from: set[tuple[str, str]] = field(default_factory=set)
    asserted: Counter[str] = field(default_factory=Counter)
    verified: Counter[str] = field(default_factory=Counter)


def fidelity(case: AuditCase, summary: Pool, leaves: Growing) -> Fidelity:
    """Judge every fact and every line about the user in the summary against the leaves."""
    result = Fidelity()
    facts = leaves.part(LeafFacts)
    evidence = Evidence(facts, leaves.part(LeafTexts), case.cwd)
    unmatched: list[Entry] = []
    for entry in summary:
        sources = evidence.sources(entry.fact)
        result.facts.append((entry, sources))
        result.asserted[entry.fact.cls] += 1
        if sources:
            result.verified[entry.fact.cls] += 1
            if entry.fact.cls == "number_unit" and sources <= ASSISTANT:
                result.assistant_only.append(_row(entry, "verified", sources=sources, proof="assistant_only"))
        else:
            unmatched.append(entry)
    _judge_lines(case, result)
    _judge_unmatched(case, result, unmatched, summary, facts.pool, leaves.cache)
    return result


def _judge_unmatched(
    case: AuditCase, result: Fidelity, unmatched: list[Entry], summary: Pool, leaves: Pool, cache: FactCache
) -> None:
    if not unmatched:
        return
    nearby = Nearby(leaves, unmatched, cache)
    places = _Places(case.elsewhere, cache)
    for entry in unmatched:
        origin = nearby.altered(entry, lambda leaf: summary.get(leaf.fact) is None)
        near = origin or nearby.near(entry.fact)
        if origin is not None:
            result.altered_from.add((origin.fact.cls, origin.fact.canon))
        result.rows.append(
            _row(
                entry,
                "altered" if origin is not None else "unverified",
                near=None if near is None else (near.fact.canon, near.first.block.seq),
                elsewhere=places.of(entry.fact),
            )
        )


def _row(
    entry: Entry,
    kind: Kind,
    *,
    sources: frozenset[str] = frozenset(),
    near: tuple[str, int] | None = None,
    elsewhere: str | None = None,
    proof: str | None = None,
) -> Signal:
    fact, block = entry.fact, entry.first.block
    altered = kind == "altered"
    return Signal(
        cls=fact.cls,
        text=fact.text,
        canon=fact.canon,
        where=Where("summary", block.seq, block.index, fact.start, fact.end),
        kind=kind,
        tier=tier_of(sources or {"assistant"}, altered=altered),
        sources=tuple(sorted(sources)),
        occurrences=entry.times,
        weight=CLASS_WEIGHT[fact.cls] + (ALTERED_BONUS if altered else 0.0),
        near=near,
        found_elsewhere=elsewhere,
        altered=altered,
        evidence=proof,
    )


def _judge_lines(case: AuditCase, result: Fidelity) -> None:
    for judged in judged_lines(case):
        result.lines.append(judged)
        result.asserted[judged.claim.kind] += 1
        if judged.source is None:
            result.rows.append(judged.row(case))
        else:
            result.verified[judged.claim.kind] += 1
            if judged.source == "assistant":
                result.assistant_only.append(judged.row(case))


class _Places:
    """Texts outside the leaves, each kind asked for at most once and only when a fact has no leaf."""

    def __init__(self, elsewhere: Elsewhere, cache: FactCache) -> None:
        self._cache = cache
        self._ask = (("state", elsewhere.state), ("system", elsewhere.system), ("earlier_log", elsewhere.earlier))
        self._texts: dict[str, list[Haystack]] = {}

    def of(self, fact: Fact) -> str | None:
        probe = factlib.probe(fact)
        for name, ask in self._ask:
            if name not in self._texts:
                self._texts[name] = [self._cache.hay(text) for text in ask()]
            if any(probe in text.lower and factlib.occurs_in(fact, text) for text in self._texts[name]):
                return name
        return None


def fidelity_json(result: Fidelity, policy: Policy) -> dict[str, Any]:
    """The axis as the record holds it. The rate is over the five classes and the lines about the user."""
    rows, truncated, _ = capped(
        ranked_unverified(result.rows), per_class=policy.max_facts_per_category, tool_only=len(result.rows)
    )
    main = [cls for cls in CLASS_WEIGHT if cls not in EXTENDED_CLASSES]
    return {
        **_counts(result, main),
        "unverified": [row.to_json() for row in rows],
        "assistantOnly": [row.to_json() for row in result.assistant_only[: policy.max_facts_per_category]],
        "truncated": truncated,
        "classes": {
            cls: {"asserted": result.asserted[cls], "verified": result.verified[cls]}
            for cls in (*CORE_CLASSES, "user_rule", "user_quote", "user_consent")
        },
        "extended": {
            **_counts(result, EXTENDED_CLASSES),
            "classes": {
                cls: {"asserted": result.asserted[cls], "verified": result.verified[cls]} for cls in EXTENDED_CLASSES
            },
        }
        if policy.extended_classes
        else None,
    }


def _counts(result: Fidelity, classes: Iterable[str]) -> dict[str, Any]:
    names = list(classes)
    asserted = sum(result.asserted[cls] for cls in names)
    verified = sum(result.verified[cls] for cls in names)
    return {"asserted": asserted, "verified": verified, "rate": round(verified / asserted, 6) if asserted else None}
