"""Precision and recall of the audit on labelled conversations. Format and rule: tests/data/audit-cases/README.md.

A row hits a label when the label, white space and case dropped, is contained in its text, canon, family members or
`also`; rows that hit only `tolerated` labels count neither way; every other row is a false alarm.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from audit.core.case import AuditCase
from audit.core.policy import Policy
from audit.core.record import audit
from dshweb.sessionlog.core.leaves import Block, Leaf, Ledger, Source

_TYPES = {"human": "user/message", "injected": "user/message", "tool_result": "tool/result"}


@dataclass(slots=True)
class Tally:
    """Counts of one class or of all: rows that hit a label, false alarms; labels that were hit, labels missed."""

    rows: int = 0
    false_alarms: int = 0
    labels: int = 0
    misses: int = 0

    @property
    def precision(self) -> float | None:
        shown = self.rows + self.false_alarms
        return self.rows / shown if shown else None

    @property
    def recall(self) -> float | None:
        wanted = self.labels + self.misses
        return self.labels / wanted if wanted else None


@dataclass(slots=True)
class Report:
    """Tallies by class (a missed label's class is `?` unless it is a correction) and what went wrong, by case."""

    overall: Tally = field(default_factory=Tally)
    by_class: dict[str, Tally] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)


def case_of(labelled: Mapping[str, Any]) -> AuditCase:
    """An AuditCase whose one-block summary shadows all leaves of a labelled conversation."""
    leaves: list[Leaf] = []
    for seq, piece in enumerate(labelled["leaves"]):
        by: Source = piece["by"]
        text = "tool\n" + "\n".join(_strings(piece["arguments"])) if by == "tool_args" else str(piece["text"])
        kind = {"human": "user", "injected": "instructions", "tool_result": "tool"}.get(by, "model")
        label = "tool" if by in ("tool_args", "tool_result") else ""
        block = Block(seq, 0, by, text, label)
        leaves.append(Leaf(seq, _TYPES.get(by, "assistant/message"), kind, None, None, (block,)))
    seqs = tuple(range(len(leaves)))
    name = str(labelled.get("name", "case"))
    return AuditCase(
        name, name, len(leaves), None, None, None, None, (str(labelled["summary"]),), tuple(leaves), Ledger(seqs, 1)
    )


def _strings(value: Any) -> Iterator[str]:
    """Keys and values of tool arguments depth-first, as the ledger decodes them; other scalars as JSON shows them."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key)
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
    elif isinstance(value, str):
        yield value


def evaluate(cases: Iterable[Mapping[str, Any]], policy: Policy | None = None) -> Report:
    """Audit every labelled case and compare its rows with its labels."""
    report = Report()
    for labelled in cases:
        record = audit(case_of(labelled), policy or Policy())
        name = str(labelled.get("name", "?"))
        for error in record["errors"]:
            report.wrong.append(f"{name}: error {error['stage']}: {error['message']}")
        tolerated = [_plain(label) for label in labelled.get("tolerated", [])]
        for axis, rows_key, labels_key in (("fidelity", "unverified", "unverified"), ("coverage", "lost", "lost")):
            rows = record[axis][rows_key] if record[axis] else []
            _compare(name, rows_key, rows, labelled.get(labels_key, []), tolerated, report)
    return report


def _compare(
    name: str,
    side: str,
    rows: Sequence[Mapping[str, Any]],
    labels: Sequence[str],
    tolerated: Sequence[str],
    report: Report,
) -> None:
    wanted = [_plain(label) for label in labels]
    hit: set[int] = set()
    for row in rows:
        texts = [_plain(text) for text in _texts(row)]
        found = [at for at, label in enumerate(wanted) if any(label in text for text in texts)]
        tally = report.by_class.setdefault(f"{side}/{row['class']}", Tally())
        if found:
            for each in (tally, report.overall):
                each.rows += 1
                each.labels += len(set(found) - hit)
            hit.update(found)
        elif not any(label in text for label in tolerated for text in texts):
            tally.false_alarms += 1
            report.overall.false_alarms += 1
            report.wrong.append(f"{name}: false alarm {side} {row['class']} {row['kind']} {row['canon'][:90]!r}")
    for at, label in enumerate(labels):
        if at not in hit:
            cls = "user_correction" if "→" in label else "?"
            report.by_class.setdefault(f"{side}/{cls}", Tally()).misses += 1
            report.overall.misses += 1
            report.wrong.append(f"{name}: missed {side} {label!r}")


def _texts(row: Mapping[str, Any]) -> Iterator[str]:
    yield str(row["text"])
    yield str(row["canon"])
    yield from row["also"]
    if row["family"]:
        yield from row["family"]["members"]


def _plain(text: str) -> str:
    return "".join(str(text).split()).lower()
