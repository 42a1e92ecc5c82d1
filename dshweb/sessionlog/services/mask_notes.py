"""Hides in what dshweb noted about its own work what later masking patterns hide: errors of tasks, files and sources.

An exception's text may quote what it stumbled over. Rule: docs/decisions/0002.
"""

from __future__ import annotations

from typing import Any

from django.db.models import Model

from dshweb.sessionlog.models import Source, SourceFile
from dshweb.sessionlog.services.masking import masker_for
from dshweb.tasks.models import Task
from dshweb.text.redact import Masker

NOTES: tuple[tuple[type[Model], str], ...] = ((Task, "error"), (SourceFile, "error"), (Source, "last_error"))


def mask_notes(team_id: int) -> int:
    """Masks the team's notes by the patterns in force; the number of notes that changed."""
    masker = masker_for(team_id)
    changed = sum(_mask_texts(model, name, team_id, masker) for model, name in NOTES)
    for pk, report in _rows(SourceFile, "report", team_id, report__isnull=False):
        damage = report.get("damage") if isinstance(report, dict) else None
        if damage and (clean := masker.mask_json(damage)) is not damage and clean != damage:
            changed += SourceFile.unscoped.filter(pk=pk).update(report={**report, "damage": clean})
    return changed


def _mask_texts(model: type[Model], name: str, team_id: int, masker: Masker) -> int:
    changed = 0
    for pk, text in _rows(model, name, team_id, **{f"{name}__gt": ""}):
        clean = masker.mask_text(text)
        if clean != text:
            # only what was looked at: a note written meanwhile was masked when it was written
            changed += model.unscoped.filter(pk=pk, **{name: text}).update(**{name: clean})  # type: ignore[attr-defined]
    return changed


def _rows(model: type[Model], name: str, team_id: int, **those: Any) -> Any:
    rows = model.unscoped.filter(team=team_id, **those).order_by("pk").values_list("pk", name)  # type: ignore[attr-defined]
    return rows.iterator(chunk_size=500)
