"""Coverage axis: is every key fact of the leaves still asserted in the summary? Rule: COMPACTION-AUDIT §6."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from audit.core.asserted import Asserted
from audit.core.beside import Beside
from audit.core.case import AuditCase
from audit.core.demands import Demand, Demands, Stated, demands
from audit.core.facts import Fact
from audit.core.families import grouped
from audit.core.fidelity import Fidelity
from audit.core.growing import Growing
from audit.core.keyfacts import KeyFact, names_of, old_values, weight_of
from audit.core.leaffacts import LeafFacts
from audit.core.policy import Policy
from audit.core.pool import Entry, Pool
from audit.core.ranking import capped, ranked_lost
from audit.core.schema import CORE_CLASSES, EXTENDED_CLASSES, PATH_CLASSES, tier_of
from audit.core.standing import Lost, lost_row, standing_of
from audit.core.userlines import believed


@dataclass(slots=True)
class Coverage:
    """The axis before it is written down."""

    facts: list[KeyFact] = field(default_factory=list)
    demands: list[Demand] = field(default_factory=list)
    unjudged: int = 0


def coverage(case: AuditCase, policy: Policy, summary: Pool, below: Growing, faith: Fidelity | None) -> Coverage:
    """Judge every key fact, correction and rule. `faith`: what the other axis found, None when it broke: originals of
    altered assertions are lost, claims about the user without a source keep no rule."""
    facts = below.part(LeafFacts)
    altered_from = faith.altered_from if faith is not None else set()
    lines = faith.lines if faith is not None else ()
    asked: Demands = demands(below.part(Stated), case.summary, believed(case.summary, lines))
    olds = old_values(asked.olds)
    asserted = Asserted(summary, case.summary, case.cwd)
    likely = asserted.likely(facts)
    result = Coverage(demands=asked.items, unjudged=asked.unjudged)
    others: list[Entry] = []
    for name, entry in facts.pool.entries.items():
        standing = standing_of(entry, policy)
        altered = (entry.fact.cls, entry.fact.canon) in altered_from
        if not olds.isdisjoint(standing.names) or _is_bare_constant(entry.fact, facts.pool):
            continue
        if not (altered or standing.key):
            others.append(entry)
            continue
        kept = asserted.kept(entry.fact) if name in likely else None
        if altered and kept == "literal":
            kept = (
                None  # its characters stand inside something else (a branch name), its own place holds the altered copy
            )
        altered = altered and kept is None
        if kept is None and not altered:
            result.facts.append(standing.fact)
            continue
        tier = tier_of(entry.sources, altered=altered)
        result.facts.append(KeyFact(entry, kept, altered, tier, weight_of(entry, altered=altered)))
    _look_beside(result, others, asserted)
    return result


def _look_beside(result: Coverage, others: Sequence[Entry], asserted: Asserted) -> None:
    paths = [
        (at, fact) for at, fact in enumerate(result.facts) if fact.kept is None and fact.entry.fact.cls in PATH_CLASSES
    ]
    beside = Beside(others, [fact.entry for _, fact in paths], lambda fact: asserted.kept(fact) is None)
    for at, fact in paths:
        found = beside.of(fact.entry)
        if found:
            result.facts[at] = replace(fact, beside=found)


def _is_bare_constant(fact: Fact, leaves: Pool) -> bool:
    """`18FF50E5` where the leaves also write `0x18FF50E5`: one thing, judged under its whole name."""
    return fact.cls == "hex_hash" and ("identifier", "0x" + fact.canon) in leaves.entries


def coverage_json(result: Coverage, case: AuditCase, policy: Policy) -> dict[str, Any]:
    """The axis as the record holds it. Score and counts leave out tier C; `toolOnly` counts it on its own."""
    rows = _folded(result)
    main = [lost for lost in rows if lost.row.cls not in EXTENDED_CLASSES]
    other = [lost for lost in rows if lost.row.cls in EXTENDED_CLASSES]
    lost, truncated, cut = capped(
        ranked_lost(grouped([*main, *other], family_min=policy.family_min)),
        per_class=policy.max_facts_per_category,
        tool_only=policy.tool_only_max,
    )
    stated = [item for item in result.demands if item.scored]
    scored, tools = _sums(result.facts)
    return {
        **_counts([scored[cls] for cls in CORE_CLASSES], stated),
        "lost": [row.to_json() for row in lost],
        "truncated": truncated,
        "classes": {**_classes(scored, CORE_CLASSES), **_demand_classes(stated)},
        "extended": {
            **_counts([scored[cls] for cls in EXTENDED_CLASSES], []),
            "classes": _classes(scored, EXTENDED_CLASSES),
        }
        if policy.extended_classes
        else None,
        "toolOnly": {"facts": tools.facts, "kept": tools.kept, "rowsCut": cut},
        "unscored": sum(1 for item in result.demands if not item.scored),
        "lastExchange": _last_exchange(result, case),
    }


@dataclass(slots=True)
class _Sum:
    """Key facts of a class, and how many the summary keeps; with their weights."""

    facts: int = 0
    kept: int = 0
    weight: float = 0.0
    weight_kept: float = 0.0


def _sums(facts: Iterable[KeyFact]) -> tuple[dict[str, _Sum], _Sum]:
    """Sums by class of what counts, and the sum of what only tools wrote."""
    scored = {cls: _Sum() for cls in (*CORE_CLASSES, *EXTENDED_CLASSES)}
    tools = _Sum()
    for fact in facts:
        into = tools if fact.tier == "C" else scored[fact.entry.fact.cls]
        into.facts += 1
        into.weight += fact.weight
        if fact.kept is not None:
            into.kept += 1
            into.weight_kept += fact.weight
    return scored, tools


def _folded(result: Coverage) -> list[Lost]:
    """Lost rows; a lost fact that a lost correction or rule already names is folded into it."""
    heads = [item for item in result.demands if item.scored and item.status in ("lost", "stale")]
    find = _Heads(heads)
    folded: dict[int, list[str]] = {}
    rows: list[Lost] = []
    for fact in result.facts:
        if fact.kept is not None:
            continue
        head = find.of(fact.entry) if heads and not fact.altered else None
        if head is None:
            rows.append(lost_row(fact))
        else:
            folded.setdefault(head, []).append(fact.entry.fact.canon)
    named = [item.row().with_also(tuple(folded.get(at, ()))) for at, item in enumerate(heads)]
    return [*(Lost(row, None, (0.0, 0, 0, 0)) for row in named), *rows]


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
        for value in names_of(entry.fact):
            if value in self._values:
                return self._values[value]
        if "human" not in entry.sources:
            return None
        spoken = [mention for mention in entry.mentions if mention.block.source == "human"]
        if not spoken:
            return None
        for start, end, at in self._spans.get((spoken[0].block.seq, spoken[0].block.index), ()):
            home = spoken[0].block
            if all(m.block is home and start <= m.fact.start and m.fact.end <= end for m in spoken):
                return at
        return None


def _counts(sums: Sequence[_Sum], stated: list[Demand]) -> dict[str, Any]:
    held = [item for item in stated if item.status == "kept"]
    total = sum(one.weight for one in sums) + sum(item.weight for item in stated)
    have = sum(one.weight_kept for one in sums) + sum(item.weight for item in held)
    return {
        "keyFacts": sum(one.facts for one in sums) + len(stated),
        "kept": sum(one.kept for one in sums) + len(held),
        "score": round(have / total, 6) if total else None,
    }


def _classes(sums: Mapping[str, _Sum], names: Iterable[str]) -> dict[str, dict[str, int]]:
    return {cls: {"keyFacts": sums[cls].facts, "kept": sums[cls].kept} for cls in names}


def _demand_classes(stated: list[Demand]) -> dict[str, dict[str, int]]:
    every = Counter(item.cls for item in stated)
    kept = Counter(item.cls for item in stated if item.status == "kept")
    return {cls: {"keyFacts": every[cls], "kept": kept[cls]} for cls in ("user_correction", "user_rule")}


def _last_exchange(result: Coverage, case: AuditCase) -> dict[str, int] | None:
    """Facts of the last human message and the answer before the cut; None when no human spoke."""
    humans = (leaf.seq for leaf in reversed(case.leaves) if any(block.source == "human" for block in leaf.blocks))
    last = next(humans, None)
    if last is None:
        return None
    facts = kept = 0
    for fact in result.facts:
        standing = fact.entry.standing
        if standing is not None and standing.spoken >= last:
            facts += 1
            kept += fact.kept is not None
    return {"facts": facts, "kept": kept}
