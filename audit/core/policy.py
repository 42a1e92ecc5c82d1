"""Audit policy and vocabulary as values, and the fingerprint that separates incomparable results."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Literal terms of a team. `error` is set when the stored text could not be read (then all lists are empty)."""

    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()
    fp_version: int = 1
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """Thresholds of COMPACTION-AUDIT §2 and AUDIT-REFINEMENTS §2.1; `masking` is the pattern list's version."""

    check_compliance: bool = True
    extended_classes: bool = True
    critical_number_count: int = 2
    max_facts_per_category: int = 200
    family_min: int = 4
    tool_only_max: int = 20
    path_markers: tuple[str, ...] = ()
    vocabulary: Vocabulary = Vocabulary()
    masking: str = ""
