"""Coverage axis: is every key fact of the leaves still asserted in the summary? Rule: COMPACTION-AUDIT §6."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from audit.core.asserted import Asserted
from audit.core.beside import Beside
from audit.core.case import AuditCase
from audit.core.demands import Demand, Demands, demands
from audit.core.facts import Fact
from audit.core.families import grouped
from audit.core.fidelity import Fidelity
from audit.core.growing import Growing
from audit.core.keyfacts import is_key, is_old, old_values, weight_of
from audit.core.leaffacts import LeafFacts
from audit.core.policy import Policy
from audit.core.pool import Entry, Pool
from audit.core.ranking import capped, ranked_lost
from audit.core.schema import CORE_CLASSES, EXTENDED_CLASSES, PATH_CLASSES, Signal, Tier, Where, tier_of
from audit.core.userlines import believed

_ONLY_ASSISTANT = frozenset({"assistant", "reasoning"})


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


@dataclass(slots=True)
class Coverage:
    """The axis before it is written down."""

    facts: list[KeyFact] = field(default_factory=list)
    demands: list[Demand] = field(default_factory=list)
    unjudged: int = 0


def coverage(case: AuditCase, policy: Policy, summary: Pool, below: Growing, faith: Fidelity | None) -> Coverage:
    """Judge every key fact, correction and rule. `faith`: what the other axis found, None when it broke: originals of
    altered assertions are lost, claims about the user without a source keep no rule."""
    leaves, cache = below.part(LeafFacts).pool, below.cache
    altered_from = faith.altered_from if faith is not None else set()
    asked: Demands = demands(case.leaves, case.summary, believed(case.summary, faith.lines if faith else ()), cache)
    olds = old_values(asked.olds)
    asserted = Asserted(summary, case.summary, case.cwd)
    result = Coverage(demands=asked.items, unjudged=asked.unjudged)
    others: list[Entry] = []
    for entry in leaves:
        altered = (entry.fact.cls, entry.fact.canon) in altered_from
        if is_old(entry.fact, olds) or _is_bare_constant(entry.fact, leaves):
            continue
        if not (altered or is_key(entry, policy)):
            others.append(entry)
            continue
        kept = asserted.kept(entry.fact)
        if altered and kept == "literal":
            kept = (
                None  # its characters stand inside something else (a branch name), its own place holds the altered copy
            )
        altered = altered and kept is None
        tier = tier_of(entry.sources, altered=altered)
        result.facts.append(KeyFact(entry, kept, altered, tier, weight_of(entry, altered=altered)))
    _look_beside(result, others, asserted)
    return result


def _look_beside(result: Coverage, others: Sequence[Entry], asserted: Asserted) -> None:
    if not others:
        return
    beside = Beside(others, lambda fact: asserted.kept(fact) is None)
    for at, fact in enumerate(result.facts):
        if fact.kept is None and fact.entry.fact.cls in PATH_CLASSES:
            result.facts[at] = replace(fact, beside=beside.of(fact.entry))


def _is_bare_constant(fact: Fact, leaves: Pool) -> bool:
    """`18FF50E5` where the leaves also write `0x18FF50E5`: one thing, judged under its whole name."""
    return fact.cls == "hex_hash" and ("identifier", "0x" + fact.canon) in leaves.entries


def coverage_json(result: Coverage, case: AuditCase, policy: Policy) -> dict[str, Any]:
    """The axis as the record holds it. Score and counts leave out tier C; `toolOnly` counts it on its own."""
    rows = _folded(result)
    main = [row for row in rows if row[0].cls not in EXTENDED_CLASSES]
    other = [row for row in rows if row[0].cls in EXTENDED_CLASSES]
    lost, truncated, cut = capped(
        ranked_lost(grouped([*main, *other], family_min=policy.family_min)),
        per_class=policy.max_facts_per_category,
        tool_only=policy.tool_only_max,
    )
    scored = [fact for fact in result.facts if fact.tier != "C"]
    tools = [fact for fact in result.facts if fact.tier == "C"]
    core = [fact for fact in scored if fact.entry.fact.cls in CORE_CLASSES]
    extended = [fact for fact in scored if fact.entry.fact.cls in EXTENDED_CLASSES]
    stated = [item for item in result.demands if item.scored]
    return {
        **_counts(core, stated),
        "lost": [row.to_json() for row in lost],
        "truncated": truncated,
        "classes": {**_classes(core, CORE_CLASSES), **_demand_classes(stated)},
        "extended": {**_counts(extended, []), "classes": _classes(extended, EXTENDED_CLASSES)}
        if policy.extended_classes
        else None,
        "toolOnly": {"facts": len(tools), "kept": sum(1 for fact in tools if fact.kept), "rowsCut": cut},
        "unscored": sum(1 for item in result.demands if not item.scored),
        "lastExchange": _last_exchange(result, case),
    }


def _folded(result: Coverage) -> list[tuple[Signal, Fact | None]]:
    """Lost rows with their facts; a lost fact that a lost correction or rule already names is folded into it."""
    heads = [item for item in result.demands if item.scored and item.status in ("lost", "stale")]
    find = _Heads(heads)
    folded: dict[int, list[str]] = {}
    rows: list[tuple[Signal, Fact | None]] = []
    for fact in result.facts:
        if fact.kept is not None:
            continue
        head = None if fact.altered else find.of(fact.entry)
        if head is None:
            rows.append((_row(fact), fact.entry.fact))
        else:
            folded.setdefault(head, []).append(fact.entry.fact.canon)
    named = [(item.row().with_also(tuple(folded.get(at, ()))), None) for at, item in enumerate(heads)]
    return [*named, *rows]


class _Heads:
    """Finds the lost demand whose new value a fact is, or whose words hold every human mention of it."""

    def __init__(self, heads: list[Demand]) -> None:
        self._values: dict[str, int] = {}
        self._spans: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
        for at, item in enumerate(heads):
            new = getattr(item.what, "new", None)
            for value in sorted(old_values([new])) if new else ():
                self._values.setdefault(value, at)
            self._spans.setdefault((item.block.seq, item.block.index), []).append((item.what.start, item.what.end, at))

    def of(self, entry: Entry) -> int | None:
        for value in (entry.fact.canon.lower(), entry.fact.text.strip().lower()):
            if value in self._values:
                return self._values[value]
        spoken = [mention for mention in entry.mentions if mention.block.source == "human"]
        if not spoken:
            return None
        for start, end, at in self._spans.get((spoken[0].block.seq, spoken[0].block.index), ()):
            home = spoken[0].block
            if all(m.block is home and start <= m.fact.start and m.fact.end <= end for m in spoken):
                return at
        return None


def _row(fact: KeyFact) -> Signal:
    entry = fact.entry
    block = entry.first.block
    only_assistant = entry.fact.cls == "number_unit" and entry.sources <= _ONLY_ASSISTANT
    return Signal(
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


def _counts(facts: list[KeyFact], stated: list[Demand]) -> dict[str, Any]:
    kept = [fact for fact in facts if fact.kept is not None]
    held = [item for item in stated if item.status == "kept"]
    total = sum(fact.weight for fact in facts) + sum(item.weight for item in stated)
    have = sum(fact.weight for fact in kept) + sum(item.weight for item in held)
    return {
        "keyFacts": len(facts) + len(stated),
        "kept": len(kept) + len(held),
        "score": round(have / total, 6) if total else None,
    }


def _classes(facts: list[KeyFact], names: Iterable[str]) -> dict[str, dict[str, int]]:
    every = Counter(fact.entry.fact.cls for fact in facts)
    kept = Counter(fact.entry.fact.cls for fact in facts if fact.kept is not None)
    return {cls: {"keyFacts": every[cls], "kept": kept[cls]} for cls in names}


def _demand_classes(stated: list[Demand]) -> dict[str, dict[str, int]]:
    every = Counter(item.cls for item in stated)
    kept = Counter(item.cls for item in stated if item.status == "kept")
    return {cls: {"keyFacts": every[cls], "kept": kept[cls]} for cls in ("user_correction", "user_rule")}


def _last_exchange(result: Coverage, case: AuditCase) -> dict[str, int] | None:
    """Facts of the last human message and the answer before the cut; None when no human spoke."""
    humans = [leaf.seq for leaf in case.leaves if any(block.source == "human" for block in leaf.blocks)]
    if not humans:
        return None
    last = humans[-1]
    facts = kept = 0
    for fact in result.facts:
        if any(m.block.seq >= last and m.block.source in ("human", "assistant") for m in fact.entry.mentions):
            facts += 1
            kept += fact.kept is not None
    return {"facts": facts, "kept": kept}
