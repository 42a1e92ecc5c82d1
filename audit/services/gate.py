"""`audit --gate class=max,…`: how many candidates of a class a run may show. Uncalibrated until a team has labelled its own cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from audit.core.compliance import STATES
from audit.core.schema import CORE_CLASSES, EXTENDED_CLASSES, STATEMENT_CLASSES
from audit.models import Audit

GATED = (*CORE_CLASSES, *STATEMENT_CLASSES, *EXTENDED_CLASSES, *STATES)


class BadGate(ValueError):
    """A gate that names no known class or no whole number."""


def parse_gate(text: str) -> dict[str, int]:
    """`uuid=0,number_unit=5` as a dict. Raises BadGate with what would be accepted."""
    gate: dict[str, int] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, _, most = part.partition("=")
        if name.strip() not in GATED or not most.strip().isdecimal():
            raise BadGate(f"{part!r}: say class=number, with a class of {', '.join(GATED)}")
        gate[name.strip()] = int(most)
    if not gate:
        raise BadGate("an empty gate would let everything through; name at least one class=number")
    return gate


def counted(audits: Iterable[Audit]) -> Counter[str]:
    """Candidates per class over these records: signals of both axes, each member of a family for itself, and open
    terms by their list. Where a list was cut, the facts that the axis counts beyond it count too.
    """
    counts: Counter[str] = Counter()
    for audit in audits:
        record = audit.record
        counts += _of_axis(record["fidelity"], "unverified", "asserted", "verified")
        counts += _of_axis(record["coverage"], "lost", "keyFacts", "kept")
        for name in STATES:
            counts[name] += len((record["compliance"] or {}).get(name, []))
    return counts


def _of_axis(axis: dict[str, Any] | None, listed: str, whole: str, part: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    if axis is None:
        return counts
    for row in axis[listed]:
        counts[row["class"]] += row["family"]["size"] if row["family"] else 1
    if axis["truncated"]:
        for name, one in {**axis["classes"], **(axis["extended"] or {}).get("classes", {})}.items():
            counts[name] = max(counts[name], one[whole] - one[part])
    return counts


def exceeded(gate: dict[str, int], counts: Counter[str]) -> dict[str, tuple[int, int]]:
    """What is above its limit: class → (found, allowed)."""
    return {name: (counts[name], most) for name, most in gate.items() if counts[name] > most}
