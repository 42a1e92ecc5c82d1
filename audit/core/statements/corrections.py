"""Corrections in one human message."""

from __future__ import annotations

from audit.core.statements.model import Correction


def corrections(text: str) -> list[Correction]:
    """Corrections of ONE human message text, sorted by start."""
    return []
