"""What makes a signal the same signal in another record of its compaction, and how much it matters among many.

Rule: issue 3, Build 2 – a re-audit keeps the verdicts of unchanged signals. Rank, place and number of occurrences may
change when a neighbour does, so they are no part of the identity.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

_TIER = 1_000_000
_TIERS = {"A": 2, "B": 1}


def signal_key(axis: str, row: dict[str, Any]) -> str:
    """32 hex digits for a row of a record's list: its axis, class, kind and normal form (its text when it has none)."""
    parts = (axis, row["class"], row["kind"], row["canon"] or row["text"])
    # ASCII, so that a lone surrogate has bytes too
    return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()[:32]


def importance(row: dict[str, Any]) -> int:
    """Larger is more important, across compactions: the tier first (A, B, the rest), then the weight in thousandths."""
    weight = row.get("weight") or 0.0
    return _TIERS.get(row["tier"], 0) * _TIER + max(0, min(_TIER - 1, round(weight * 1000)))
