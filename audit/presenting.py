"""An audit as its page shows it: the axes with counts per class, and each signal with the text around it.

Reads the record defensively: one made by another version may lack members, and a missing number is None, never 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from audit.models import Audit, Signal
from audit.words import CLASSES, ELSEWHERE, KINDS, REASONS, SOURCES, STAGES, TIERS

AROUND = 160


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
class Quote:
    """A piece of a line of masked text around a fact. `more_before`/`more_after`: the line goes on there."""

    before: str
    hit: str
    after: str
    more_before: bool
    more_after: bool


@dataclass
class Row:
    """One signal for the page. `quote` and `near_quote` are None when their text is not stored."""

    rank: int
    kind: Any
    icon: str
    tone: str
    cls: Any
    tier: Any
    text: str
    side: str
    seq: int | None
    sources: list[Any]
    occurrences: int | None
    weight: float | None
    near: str | None
    near_seq: int | None
    elsewhere: Any
    assistant_only: bool
    also: list[str]
    members: list[str]
    members_cut: int
    quote: Quote | None = None
    near_quote: Quote | None = None


@dataclass(frozen=True)
class Terms:
    """The compliance axis: a vocabulary's fingerprint and its open terms as (kind, words, icon, term, seqs)."""

    fp: str
    rows: list[tuple[Any, str, str, list[int]]]
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
    coverage = _dict(record, "coverage")
    last = _dict(coverage, "lastExchange")
    return Shown(
        fidelity=_axis(record.get("fidelity"), "rate", "verified", "asserted"),
        coverage=_axis(record.get("coverage"), "score", "kept", "keyFacts"),
        terms=_terms(record.get("compliance")),
        ledger=_ledger(_dict(record, "ledger")),
        last_exchange=(last.get("kept"), last.get("facts")) if last else None,
        tool_only=_dict(coverage, "toolOnly") or None,
        errors=[_error(one) for one in _dicts(record, "errors")],
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
        rows=rows(_dict(axis, "classes")),
        extended=rows(_dict(_dict(axis, "extended"), "classes")),
        truncated=bool(axis.get("truncated")),
    )


def _terms(axis: Any) -> Terms | None:
    if not isinstance(axis, dict):
        return None
    rows = []
    for name, kind in (("missing", "missing"), ("superseded", "superseded"), ("scopeLost", "scope_lost")):
        words, icon, _tone = KINDS[kind]
        rows += [(words, icon, str(t.get("term", "")), list(t.get("leafSeqs") or [])) for t in _dicts(axis, name)]
    return Terms(str(axis.get("fp", "")), rows, axis.get("coexistsReview"))


def _ledger(ledger: dict[str, Any]) -> Ledger:
    return Ledger(
        spans=[(a, b) for a, b in ledger.get("leafSeqs") or []],
        count=ledger.get("leafCount"),
        depth=ledger.get("depth"),
        incomplete=bool(ledger.get("incomplete")),
        reasons=[(REASONS.get(str(r.get("code")), r.get("code")), r.get("seq")) for r in _dicts(ledger, "reasons")],
        opaque=ledger.get("opaqueBlocks"),
        externalized=ledger.get("externalized"),
    )


def row_of(signal: Signal) -> Row:
    data = signal.data if isinstance(signal.data, dict) else {}
    words, icon, tone = KINDS.get(signal.kind, (signal.kind, "unverified", "amber"))
    near, family = _dict(data, "near"), _dict(data, "family")
    members = [str(member) for member in family.get("members") or []]
    return Row(
        rank=signal.rank,
        kind=words,
        icon=icon,
        tone=tone,
        cls=CLASSES.get(signal.cls, signal.cls),
        tier=TIERS.get(signal.tier),
        text=signal.text,
        side=signal.side,
        seq=signal.seq,
        sources=[SOURCES.get(name, name) for name in data.get("sources") or []],
        occurrences=data.get("occurrences"),
        weight=signal.weight,
        near=near.get("canon"),
        near_seq=near.get("seq"),
        elsewhere=ELSEWHERE.get(data.get("foundElsewhere") or ""),
        assistant_only=data.get("evidence") == "assistant_only",
        also=[str(one) for one in data.get("also") or []],
        members=members,
        members_cut=max(0, (family.get("size") or 0) - len(members)),
    )


def rows_of(signals: Iterable[Signal], summary: list[str] | None, texts: Iterable[tuple[int, str]]) -> list[Row]:
    """Rows with quotes. `texts` gives (seq, masked text) of the originals once each; only pieces of them are kept."""
    pairs = [(row_of(signal), signal) for signal in signals]
    wanted: dict[int, list[tuple[Row, Signal, str]]] = {}
    for row, signal in pairs:
        if row.side == "summary":
            row.quote = _in_summary(signal, summary or [])
        elif row.seq is not None:
            wanted.setdefault(row.seq, []).append((row, signal, "quote"))
        if row.near_seq is not None:
            wanted.setdefault(row.near_seq, []).append((row, signal, "near_quote"))
    for seq, text in texts:
        for row, signal, name in wanted.get(seq, ()):
            if getattr(row, name) is None:
                setattr(row, name, _find(text, [signal.text, signal.canon] if name == "quote" else [row.near or ""]))
    return [row for row, _signal in pairs]


def seqs_of(signals: Iterable[Signal]) -> set[int]:
    """Seqs of the originals whose text `rows_of` wants to quote."""
    found: set[int] = set()
    for signal in signals:
        near = _dict(signal.data if isinstance(signal.data, dict) else {}, "near").get("seq")
        found.update(seq for seq in (signal.seq if signal.side != "summary" else None, near) if isinstance(seq, int))
    return found


def assistant_only(audit: Audit) -> list[Signal]:
    """What the summary asserts on the assistant's word alone, as signals that are stored nowhere: matched, so no rows."""
    record = audit.record if isinstance(audit.record, dict) else {}
    rows = _dicts(_dict(record, "fidelity"), "assistantOnly")
    return [
        Signal(
            rank=rank,
            axis="fidelity",
            cls=str(row.get("class", "")),
            kind=str(row.get("kind", "verified")),
            text=str(row.get("text", "")),
            canon=str(row.get("canon", "")),
            side="summary",
            data=row,
        )
        for rank, row in enumerate(rows)
    ]


def _in_summary(signal: Signal, summary: list[str]) -> Quote | None:
    where = _dict(signal.data if isinstance(signal.data, dict) else {}, "where")
    block, start, end = where.get("block"), where.get("start"), where.get("end")
    if isinstance(block, int) and isinstance(start, int) and isinstance(end, int):
        text = summary[block] if 0 <= block < len(summary) else ""
        if text and text[start:end] == signal.text:
            return _cut(text, start, end)
    return next((quote for quote in (_find(text, [signal.text]) for text in summary) if quote), None)


def _find(text: str, needles: list[str]) -> Quote | None:
    for needle in needles:
        start = text.find(needle) if needle else -1
        if start >= 0:
            return _cut(text, start, start + len(needle))
    return None


def _cut(text: str, start: int, end: int) -> Quote:
    """The line the fact stands in, at most AROUND characters of it on each side."""
    line, line_end = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end
    left, right = max(line, start - AROUND), min(line_end, end + AROUND)
    return Quote(text[left:start], text[start:end], text[end:right], left > line, right < line_end)


def _dict(holder: dict[str, Any], name: str) -> dict[str, Any]:
    value = holder.get(name)
    return value if isinstance(value, dict) else {}


def _dicts(holder: dict[str, Any], name: str) -> list[dict[str, Any]]:
    value = holder.get(name)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
