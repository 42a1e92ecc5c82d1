"""Rules in one human message."""

from __future__ import annotations

from audit.core.statements.model import Rule


def rules(text: str) -> list[Rule]:
    """Rules of ONE human message text, sorted by start."""
    return []
