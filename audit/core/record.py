"""The audit of one compaction as a record `audit.signals/1`. Rule: COMPACTION-AUDIT §3, AUDIT-REFINEMENTS §2.2.

Deterministic: no clock, no order of sets, no randomness. Never raises: each axis stands alone, and one that breaks
becomes null with an entry in `errors`. Read-only, no model calls, candidates only.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from audit.core import statements
from audit.core.case import AuditCase
from audit.core.compliance import compliance
from audit.core.coverage import Coverage, coverage, coverage_json
from audit.core.extraction import Rules, block_facts, rules_of
from audit.core.fidelity import Fidelity, fidelity, fidelity_json
from audit.core.fingerprint import config_fp
from audit.core.growing import Growing
from audit.core.leaffacts import LeafFacts
from audit.core.policy import Policy
from audit.core.pool import Pool
from audit.core.schema import ENGINE, SCHEMA
from audit.core.times import iso_utc
from dshweb.sessionlog.core.leaves import Block, Ledger

T = TypeVar("T")
_LEAST = 80
_MESSAGE_MAX = 300


@dataclass(frozen=True, slots=True)
class Audit:
    """A record with the judgements behind it, for pages that mark every fact on both sides."""

    record: dict[str, Any]
    fidelity: Fidelity | None
    coverage: Coverage | None
    summary: Pool | None = None
    leaves: Pool | None = None


def audit(case: AuditCase, policy: Policy, shared: Growing | None = None) -> dict[str, Any]:
    """Audit one compaction. `shared` may be shared by the audits of one log under one policy. Never raises."""
    return run(case, policy, shared).record


def run(case: AuditCase, policy: Policy, shared: Growing | None = None) -> Audit:
    """`audit`, with what it found for every fact; with a `shared` that is good until the next audit."""
    errors: list[dict[str, Any]] = []
    rules = rules_of(policy)
    summary = _try("summary", lambda: summary_pool(case, rules), errors)
    below = (shared or Growing()).at(case.leaves, policy)
    leaves = _try("leaves", lambda: below.part(LeafFacts).merged(case.cwd), errors)
    faith: Fidelity | None = None
    cover: Coverage | None = None
    faith_json: dict[str, Any] | None = None
    cover_json: dict[str, Any] | None = None
    if summary is not None and leaves is not None:
        given, pool = summary, leaves
        for side, cut in (("summary", given.cut), ("leaf", pool.cut)):
            errors.extend(
                {
                    "stage": "extract",
                    "message": "block_truncated",
                    "side": side,
                    "seq": seq,
                    "block": at,
                    "unread": unread,
                }
                for seq, at, unread in cut
            )
        faith = _try("fidelity", lambda: fidelity(case, given, below), errors)
        cover = _try("coverage", lambda: coverage(case, policy, given, below, faith), errors)
        if faith is not None:
            judged = faith
            faith_json = _try("fidelity", lambda: fidelity_json(judged, policy), errors)
        if cover is not None:
            judged_cover = cover
            if cover.unjudged:
                errors.append({"stage": "coverage", "message": "demands_not_judged", "count": cover.unjudged})
            cover_json = _try("coverage", lambda: coverage_json(judged_cover, case, policy), errors)
    terms: dict[str, Any] | None = None
    if policy.check_compliance:
        if policy.vocabulary.error:
            errors.append({"stage": "compliance", "message": policy.vocabulary.error})
        terms = _try("compliance", lambda: compliance(case.summary, case.leaves, policy.vocabulary), errors)
    record = {
        "schema": SCHEMA,
        "sessionId": case.session_id,
        "compactionId": case.compaction_id,
        "summarySeq": case.summary_seq,
        "checkpointSeq": case.checkpoint_seq,
        "at": iso_utc(case.at),
        "engine": ENGINE,
        "configFp": config_fp(policy),
        "mode": case.mode,
        "verdict": verdict(case, faith),
        "ledger": _ledger(case.ledger),
        "fidelity": faith_json,
        "coverage": cover_json,
        "compliance": terms,
        "errors": errors,
    }
    return Audit(record, faith, cover, summary, leaves)


def summary_pool(case: AuditCase, rules: Rules) -> Pool:
    """Facts that the summary asserts, block by block (a fact split over two blocks is no fact)."""
    pool = Pool()
    for index, text in enumerate(case.summary):
        block = Block(case.summary_seq, index, "assistant", text)
        found = block_facts(block, rules)
        pool.add(block, found.facts)
        unread = max(found.unread, statements.unread(text))
        if unread:
            pool.cut.append((case.summary_seq, index, unread))
    return pool


def verdict(case: AuditCase, faith: Fidelity | None) -> str:
    """`cannot_be_audited` when the summary is empty, opaque, or so short that it asserts nothing; else `audited`."""
    said = "".join(case.summary).strip()
    if not said:
        return "cannot_be_audited"
    asserts = faith is not None and (sum(faith.asserted.values()) > 0)
    return "cannot_be_audited" if len(said) < _LEAST and faith is not None and not asserts else "audited"


def dumps(record: dict[str, Any]) -> bytes:
    """Canonical bytes of a record: sorted keys, no spaces, UTF-8; lone surrogates are escaped."""
    text = json.dumps(record, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(record, ensure_ascii=True, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def _try(stage: str, step: Callable[[], T], errors: list[dict[str, Any]]) -> T | None:
    try:
        return step()
    except Exception as error:  # an audit never blocks: the axis is null, the reason is in the record
        errors.append({"stage": stage, "message": f"{type(error).__name__}: {error}"[:_MESSAGE_MAX]})
        return None


def _ledger(ledger: Ledger) -> dict[str, Any]:
    return {
        "leafSeqs": _ranges(ledger.leaf_seqs),
        "leafCount": len(ledger.leaf_seqs),
        "depth": ledger.depth,
        "incomplete": ledger.incomplete,
        "reasons": [{"code": reason.code, "seq": reason.seq} for reason in ledger.reasons],
        "opaqueBlocks": ledger.opaque_blocks,
        "externalized": ledger.externalized,
    }


def _ranges(seqs: tuple[int, ...]) -> list[list[int]]:
    ranges: list[list[int]] = []
    for seq in sorted(set(seqs)):
        if ranges and ranges[-1][1] == seq - 1:
            ranges[-1][1] = seq
        else:
            ranges.append([seq, seq])
    return ranges
