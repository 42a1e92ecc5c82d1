"""Whether a summary kept a rule."""

from __future__ import annotations

from collections.abc import Sequence

from audit.core.statements.model import Rule


def rule_kept(rule: Rule, summary_texts: Sequence[str]) -> bool | None:
    """True or False; None = cannot be judged (no script in common)."""
    return None
