"""Look-alike lost facts become one row, so that they do not bury what people said. Rule: AUDIT-REFINEMENTS §2.6."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from audit.core import facts as factlib
from audit.core.facts import Fact
from audit.core.schema import Signal

_GROWTH = 3
MEMBERS = 200


def grouped(rows: Sequence[tuple[Signal, Fact | None]], *, family_min: int) -> list[Signal]:
    """Rows with families of `family_min` members or more merged; facts of humans and altered ones stay alone.

    A row's fact is None when it is no plain fact (a correction, a rule). A family stands where its best member stood,
    its weight is the best weight times min(3, members).
    """
    families: dict[tuple[str, str, str], list[Signal]] = {}
    keys: list[tuple[str, str, str] | None] = []
    for signal, fact in rows:
        alone = fact is None or signal.altered or "human" in signal.sources
        key: tuple[str, str, str] | None = (
            None if alone or fact is None else (signal.cls, factlib.shape(fact), signal.tier)
        )
        keys.append(key)
        if key is not None:
            families.setdefault(key, []).append(signal)
    merged: list[Signal] = []
    done: set[tuple[str, str, str]] = set()
    for (signal, _), key in zip(rows, keys, strict=True):
        if key is None or len(families[key]) < max(2, family_min):
            merged.append(signal)
        elif key not in done:
            done.add(key)
            merged.append(_family(key[1], families[key]))
    return merged


def _family(shape: str, members: list[Signal]) -> Signal:
    best = min(members, key=lambda row: (-(row.weight or 0.0), -row.occurrences, row.where.seq, row.where.start))
    canons = tuple(dict.fromkeys(row.canon for row in members))
    also = tuple(dict.fromkeys(canon for row in members for canon in row.also))
    return replace(
        best,
        weight=(best.weight or 0.0) * min(_GROWTH, len(members)),
        occurrences=sum(row.occurrences for row in members),
        family=(shape, canons[:MEMBERS], len(members)),
        also=also[:MEMBERS],
    )
