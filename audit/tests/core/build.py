"""Audit cases by hand for tests: `case_of([("human", "…"), …], "summary")`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from audit.core.case import AuditCase, Elsewhere
from audit.core.policy import Policy
from audit.core.record import audit
from dshweb.sessionlog.core.leaves import Block, Leaf, Ledger, LedgerReason, Source

Piece = tuple[Source, str]


def leaf(seq: int, *pieces: Piece, author: str = "") -> Leaf:
    """One leaf of one or more blocks."""
    blocks = tuple(Block(seq, index, source, text) for index, (source, text) in enumerate(pieces))
    by = author or {"human": "user", "injected": "instructions", "tool_result": "tool"}.get(pieces[0][0], "model")
    kind = {"human": "user/message", "injected": "user/message", "tool_result": "tool/result"}
    return Leaf(seq, kind.get(pieces[0][0], "assistant/message"), by, None, None, blocks)


def build(
    pieces: Iterable[Piece],
    summary: str | Sequence[str],
    *,
    reasons: Sequence[str] = (),
    opaque: int = 0,
    elsewhere: Elsewhere | None = None,
    cwd: str | None = None,
    checkpoint: int | None = None,
    depth: int = 1,
) -> AuditCase:
    """A case whose leaves have seq 0, 1, 2 … and whose summary follows them."""
    leaves = tuple(leaf(seq, piece) for seq, piece in enumerate(pieces))
    blocks = (summary,) if isinstance(summary, str) else tuple(summary)
    ledger = Ledger(
        tuple(one.seq for one in leaves), depth, tuple(LedgerReason(code) for code in reasons), opaque_blocks=opaque
    )
    return AuditCase(
        "session-1",
        "c1",
        len(leaves),
        checkpoint,
        1790000003000,
        None,
        cwd,
        blocks,
        leaves,
        ledger,
        elsewhere or Elsewhere(),
    )


def record_of(pieces: Iterable[Piece], summary: str | Sequence[str], policy: Policy | None = None, **more: Any) -> Any:
    """The record of such a case."""
    return audit(build(pieces, summary, **more), policy or Policy())


def canons(record: Any, axis: str = "fidelity") -> list[str]:
    """Canons of the rows of an axis, in order."""
    return [row["canon"] for row in record[axis]["unverified" if axis == "fidelity" else "lost"]]


def row(record: Any, canon: str, axis: str = "fidelity") -> Any:
    """The one row with this canon (or with it among `also` or the family)."""
    rows = record[axis]["unverified" if axis == "fidelity" else "lost"]
    found = [
        one
        for one in rows
        if canon == one["canon"] or canon in one["also"] or canon in (one["family"] or {"members": []})["members"]
    ]
    assert len(found) == 1, (canon, [one["canon"] for one in rows])
    return found[0]
