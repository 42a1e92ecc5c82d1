"""Order and caps of a record's rows: what people said before what machines printed. Rule: AUDIT-REFINEMENTS §2.6."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from audit.core.schema import STATEMENT_CLASSES, Signal

_STATED = frozenset(STATEMENT_CLASSES)


def ranked_lost(rows: Iterable[Signal]) -> list[Signal]:
    """Weight descending, then occurrences descending, seq, start; rows that only tools wrote last."""
    return sorted(rows, key=lambda row: (row.tier == "C", *_order(row)))


def ranked_unverified(rows: Iterable[Signal]) -> list[Signal]:
    """Lines about what the user said or wanted first, then altered facts, then by weight."""
    return sorted(rows, key=lambda row: (row.cls not in _STATED, not row.altered, *_order(row)))


def capped(rows: Iterable[Signal], *, per_class: int, tool_only: int) -> tuple[list[Signal], bool, int]:
    """Ranked rows cut to `per_class` a class and `tool_only` rows of tier C: (rows, per-class cap hit, tier C cut)."""
    kept: list[Signal] = []
    classes: Counter[str] = Counter()
    tools = tool_cut = 0
    truncated = False
    for row in rows:
        if row.tier == "C" and tools >= tool_only:
            tool_cut += 1
        elif classes[row.cls] >= per_class:
            truncated = True
        else:
            kept.append(row)
            classes[row.cls] += 1
            tools += row.tier == "C"
    return kept, truncated, tool_cut


def _order(row: Signal) -> tuple[object, ...]:
    where = row.where
    return (-(row.weight or 0.0), -row.occurrences, where.seq, where.block, where.start, row.cls, row.canon)
