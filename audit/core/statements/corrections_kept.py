"""Whether a summary kept a correction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from audit.core.statements.model import Correction, Kept


def resolve_old_values(correction: Correction, earlier_texts: Iterable[str]) -> Correction:
    """Fill `old_values` (and `old`, `canon`) of an attribute correction from earlier human/assistant texts."""
    return correction


def correction_scorable(correction: Correction, summary_texts: Sequence[str]) -> bool:
    """False when the correction cannot be looked for in this summary (unscored, or no script in common)."""
    return correction.scored


def correction_kept(correction: Correction, summary_texts: Sequence[str]) -> Kept:
    """`kept`, `stale` (old value present, new absent) or `lost`."""
    return "kept"
