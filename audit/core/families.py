"""Look-alike lost facts become one row, so that they do not bury what people said. Rule: AUDIT-REFINEMENTS §2.6."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter

from audit.core.schema import Signal, Tier
from audit.core.standing import Lost

_GROWTH = 3
MEMBERS = 200


def grouped(rows: Sequence[Lost], *, family_min: int) -> list[Signal]:
    """Rows with families of `family_min` members or more merged; those without a family stay alone.

    A family stands where its best member stood, its weight is the best weight times min(3, members).
    """
    families: dict[tuple[str, str, Tier], list[Lost]] = {}
    for lost in rows:
        if lost.family is not None:
            families.setdefault(lost.family, []).append(lost)
    merged: list[Signal] = []
    for lost in rows:
        members = families[lost.family] if lost.family is not None else []
        if len(members) < max(2, family_min):
            merged.append(lost.row)
        elif lost is members[0]:
            merged.append(_family(members))
    return merged


def _family(members: Sequence[Lost]) -> Signal:
    best = min(members, key=attrgetter("order"))
    canons = tuple(dict.fromkeys(one.row.canon for one in members))
    also = tuple(dict.fromkeys(canon for one in members for canon in one.row.also))
    return replace(
        best.row,
        weight=(best.row.weight or 0.0) * min(_GROWTH, len(members)),
        occurrences=sum(one.row.occurrences for one in members),
        family=(best.family[1] if best.family else "", canons[:MEMBERS], len(members)),
        also=also[:MEMBERS],
    )
