"""Compliance axis, layer A: literal terms of a team, kept or dropped. Rule: COMPACTION-AUDIT §7.

Plain case-sensitive substrings after NFC; paraphrase is out of scope, so every row is a candidate.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

from audit.core.fingerprint import vocabulary_fp
from audit.core.policy import Vocabulary
from dshweb.sessionlog.core.leaves import Leaf

_LISTED = 20
STATES = {"missing": "missing", "superseded": "superseded", "scopeLost": "scope_lost"}
"""The axis's lists, and what pages call a term of each."""


def compliance(summary: Sequence[str], leaves: Sequence[Leaf], vocabulary: Vocabulary) -> dict[str, Any]:
    """The axis as the record holds it. `summaryOffsets` are `[block, start]`, code points in the block as given."""
    keep, drop, scope = (tuple(_nfc(t) for t in ts) for ts in (vocabulary.keep, vocabulary.drop, vocabulary.scope))
    blocks = [_nfc(block) for block in summary]
    in_summary = {term: _offsets(term, blocks) for term in sorted({*keep, *drop, *scope})}
    in_leaves = _leaf_seqs([term for term in sorted({*keep, *scope}) if not in_summary[term]], leaves)
    kept_here = [term for term in keep if in_summary[term]]
    dropped_here = [term for term in drop if in_summary[term]]
    both = {"keep": kept_here, "drop": dropped_here} if kept_here and dropped_here else None
    return {
        "fp": vocabulary_fp(vocabulary),
        "missing": [_term(t, "keep", in_leaves[t], []) for t in keep if in_leaves.get(t)],
        "superseded": [_term(t, "drop", [], in_summary[t]) for t in dropped_here],
        "scopeLost": [_term(t, "scope", in_leaves[t], []) for t in scope if in_leaves.get(t)],
        "coexistsReview": both,
    }


def _nfc(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _term(term: str, name: str, seqs: list[int], offsets: list[list[int]]) -> dict[str, Any]:
    return {"term": term, "list": name, "leafSeqs": seqs[:_LISTED], "summaryOffsets": offsets[:_LISTED]}


def _offsets(term: str, blocks: Sequence[str]) -> list[list[int]]:
    """Where a term stands. In the rare text that NFC changes the offsets are those of the normalised text."""
    found: list[list[int]] = []
    for index, text in enumerate(blocks):
        at = text.find(term)
        while at >= 0 and len(found) < _LISTED:
            found.append([index, at])
            at = text.find(term, at + len(term))
    return found


def _leaf_seqs(terms: Sequence[str], leaves: Sequence[Leaf]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {term: [] for term in terms}
    for leaf in leaves:
        texts = [_nfc(block.text) for block in leaf.blocks] if found else []
        for term, seqs in found.items():
            if len(seqs) < _LISTED and any(term in text for text in texts):
                seqs.append(leaf.seq)
    return found
