"""Every judged fact of a compaction on both sides, for the page that marks them (issue 3). Made on demand, not stored.

Statuses: summary side `verified`, `unverified`, `altered`, `superseded`; leaf side `kept`, `lost`, `altered`, `stale`,
`unscored`, `missing`, `scope_lost`. Offsets are code points in the block as given.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from audit.core.case import AuditCase
from audit.core.coverage import Coverage
from audit.core.extraction import FactCache
from audit.core.facts import Fact
from audit.core.fidelity import Fidelity
from audit.core.policy import Policy
from audit.core.record import run
from dshweb.sessionlog.core.leaves import Block

Mark = dict[str, Any]
TERM_MARKS = 200


def marks(case: AuditCase, policy: Policy, cache: FactCache | None = None) -> dict[str, list[Mark]]:
    """`{"summary": [Mark…], "leaf": [Mark…]}` sorted by (seq, block, start).

    Mark = {"status", "class", "canon", "text", "seq", "block", "start", "end", "sources", "tier"}; facts of one class
    and canon share both, so a page can link the two sides. A broken axis gives no marks. At most 12 mentions of a fact.
    """
    done = run(case, policy, cache)
    summary: list[Mark] = []
    leaf: list[Mark] = []
    if done.fidelity is not None:
        summary.extend(_asserted(done.fidelity, case))
    if done.coverage is not None:
        leaf.extend(_keys(done.coverage))
    if done.record["compliance"] is not None:
        summary.extend(_terms_in_summary(done.record["compliance"], case))
        leaf.extend(_terms_in_leaves(done.record["compliance"], case))
    return {"summary": sorted(summary, key=_order), "leaf": sorted(leaf, key=_order)}


def _order(mark: Mark) -> tuple[Any, ...]:
    return (mark["seq"], mark["block"], mark["start"], mark["end"], mark["class"], mark["status"])


def _mark(status: str, fact: Fact, block: Block, sources: list[str], tier: str | None) -> Mark:
    return _raw(status, fact.cls, fact.canon, fact.text, block, (fact.start, fact.end), sources, tier)


def _raw(
    status: str,
    cls: str,
    canon: str,
    text: str,
    block: Block,
    span: tuple[int, int],
    sources: list[str],
    tier: str | None,
) -> Mark:
    return {
        "status": status,
        "class": cls,
        "canon": canon,
        "text": text,
        "seq": block.seq,
        "block": block.index,
        "start": span[0],
        "end": span[1],
        "sources": sources,
        "tier": tier,
    }


def _asserted(axis: Fidelity, case: AuditCase) -> Iterator[Mark]:
    unmatched = {(row.cls, row.canon): row.kind for row in axis.rows}
    for entry, sources in axis.facts:
        status = "verified" if sources else unmatched.get((entry.fact.cls, entry.fact.canon), "unverified")
        for mention in entry.mentions:
            yield _mark(status, mention.fact, mention.block, sorted(sources), None)
    for line in axis.lines:
        claim = line.claim
        block = Block(case.summary_seq, line.index, "assistant", "")
        status = "verified" if line.source else "unverified"
        proof = [line.source] if line.source else []
        yield _raw(status, claim.kind, claim.text, claim.text, block, (claim.start, claim.end), proof, "A")


def _keys(axis: Coverage) -> Iterator[Mark]:
    for fact in axis.facts:
        status = "kept" if fact.kept is not None else "altered" if fact.altered else "lost"
        for mention in fact.entry.mentions:
            yield _mark(status, mention.fact, mention.block, sorted(fact.entry.sources), fact.tier)
    for item in axis.demands:
        row = item.row()
        span = (row.where.start, row.where.end)
        yield _raw(item.status, item.cls, row.canon, row.text, item.block, span, ["human"], "A")


def _terms_in_summary(axis: dict[str, Any], case: AuditCase) -> Iterator[Mark]:
    for term in axis["superseded"]:
        for index, start in term["summaryOffsets"]:
            block = Block(case.summary_seq, index, "assistant", "")
            span = (start, start + len(term["term"]))
            yield _raw("superseded", term["list"], term["term"], term["term"], block, span, [], None)


def _terms_in_leaves(axis: dict[str, Any], case: AuditCase) -> Iterator[Mark]:
    for name, status in (("missing", "missing"), ("scopeLost", "scope_lost")):
        for term in axis[name]:
            text, seqs, shown = term["term"], set(term["leafSeqs"]), 0
            for block in (block for leaf in case.leaves if leaf.seq in seqs for block in leaf.blocks):
                at = block.text.find(text)
                while at >= 0 and shown < TERM_MARKS:
                    yield _raw(status, term["list"], text, text, block, (at, at + len(text)), [block.source], None)
                    shown += 1
                    at = block.text.find(text, at + len(text))
