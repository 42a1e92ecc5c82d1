"""An audit as its page shows it: the axes with counts per class, the ledger, the vocabulary's open terms.

Reads the record defensively: one made by another version may lack members, and a missing number is None, never 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from audit.core.compliance import STATES
from audit.models import Audit
from audit.words import CLASSES, KINDS, REASONS, STAGES


@dataclass(frozen=True)
class ClassRow:
    words: Any
    part: int | None
    whole: int | None


@dataclass(frozen=True)
class Axis:
    """`rate` 0..1 or None; `part` of `whole`; `extended` rows are counted apart."""

    rate: float | None
    part: int | None
    whole: int | None
    rows: list[ClassRow]
    extended: list[ClassRow]
    truncated: bool


@dataclass(frozen=True)
class Terms:
    """The compliance axis: a vocabulary's fingerprint and its open terms as (words, icon, term)."""

    fp: str
    rows: list[tuple[Any, str, str]]
    together: dict[str, list[str]] | None


@dataclass(frozen=True)
class Ledger:
    spans: list[tuple[int, int]]
    count: int | None
    depth: int | None
    incomplete: bool
    reasons: list[tuple[Any, int | None]]
    opaque: int | None
    externalized: int | None


@dataclass(frozen=True)
class Shown:
    fidelity: Axis | None
    coverage: Axis | None
    terms: Terms | None
    ledger: Ledger
    last_exchange: tuple[int | None, int | None] | None
    tool_only: dict[str, int] | None
    errors: list[tuple[Any, str]] = field(default_factory=list)

    @property
    def partial(self) -> bool:
        """Something could not be judged."""
        return bool(self.errors) or self.fidelity is None or self.coverage is None


def shown(audit: Audit) -> Shown:
    record = audit.record if isinstance(audit.record, dict) else {}
    coverage = dict_in(record, "coverage")
    last = dict_in(coverage, "lastExchange")
    return Shown(
        fidelity=_axis(record.get("fidelity"), "rate", "verified", "asserted"),
        coverage=_axis(record.get("coverage"), "score", "kept", "keyFacts"),
        terms=_terms(record.get("compliance")),
        ledger=_ledger(dict_in(record, "ledger")),
        last_exchange=(last.get("kept"), last.get("facts")) if last else None,
        tool_only=dict_in(coverage, "toolOnly") or None,
        errors=[_error(one) for one in dicts_in(record, "errors")],
    )


def _error(entry: dict[str, Any]) -> tuple[Any, str]:
    stage = str(entry.get("stage"))
    return STAGES.get(stage, stage), str(entry.get("message", ""))


def _axis(axis: Any, rate: str, part: str, whole: str) -> Axis | None:
    if not isinstance(axis, dict):
        return None

    def rows(classes: dict[str, Any]) -> list[ClassRow]:
        order = [*(name for name in CLASSES if name in classes), *sorted(classes.keys() - CLASSES.keys())]
        counts = [
            (name, classes[name]) for name in order if isinstance(classes[name], dict) and classes[name].get(whole)
        ]
        return [ClassRow(CLASSES.get(name, name), count.get(part), count.get(whole)) for name, count in counts]

    return Axis(
        rate=axis.get(rate),
        part=axis.get(part),
        whole=axis.get(whole),
        rows=rows(dict_in(axis, "classes")),
        extended=rows(dict_in(dict_in(axis, "extended"), "classes")),
        truncated=bool(axis.get("truncated")),
    )


def _terms(axis: Any) -> Terms | None:
    if not isinstance(axis, dict):
        return None
    rows = []
    for name, kind in STATES.items():
        words, icon, _tone = KINDS[kind]
        rows += [(words, icon, str(t.get("term", ""))) for t in dicts_in(axis, name)]
    return Terms(str(axis.get("fp", "")), rows, axis.get("coexistsReview"))


def _ledger(ledger: dict[str, Any]) -> Ledger:
    return Ledger(
        spans=[(a, b) for a, b in ledger.get("leafSeqs") or []],
        count=ledger.get("leafCount"),
        depth=ledger.get("depth"),
        incomplete=bool(ledger.get("incomplete")),
        reasons=[(REASONS.get(str(r.get("code")), r.get("code")), r.get("seq")) for r in dicts_in(ledger, "reasons")],
        opaque=ledger.get("opaqueBlocks"),
        externalized=ledger.get("externalized"),
    )


def dict_in(holder: dict[str, Any], name: str) -> dict[str, Any]:
    value = holder.get(name)
    return value if isinstance(value, dict) else {}


def dicts_in(holder: dict[str, Any], name: str) -> list[dict[str, Any]]:
    value = holder.get(name)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
