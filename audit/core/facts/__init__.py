"""Fact extraction and matching: what a text states that can be checked literally. The public face of the package.

Rules: COMPACTION-AUDIT §4, §6, §8 as mended by AUDIT-REFINEMENTS §2.3, §2.4, §2.6, §2.8, §2.9.
"""

from __future__ import annotations

from audit.core.facts.beside import beside_unit
from audit.core.facts.compare import aliases, altered, label_before, near, shape
from audit.core.facts.extract import extract, scan, was_cut
from audit.core.facts.match import Haystack, bare_number, covers, last_digits, needle, occurs, occurs_in, probe, word
from audit.core.facts.model import CORE_CLASSES, EXTENDED_CLASSES, MAX_BLOCK, MAX_FACTS, PATH_CLASSES, Fact, Scan
from audit.core.facts.same import comparable, key, same

__all__ = [
    "CORE_CLASSES",
    "EXTENDED_CLASSES",
    "MAX_BLOCK",
    "MAX_FACTS",
    "PATH_CLASSES",
    "Fact",
    "Haystack",
    "Scan",
    "aliases",
    "altered",
    "bare_number",
    "beside_unit",
    "comparable",
    "covers",
    "extract",
    "key",
    "label_before",
    "last_digits",
    "near",
    "needle",
    "occurs",
    "occurs_in",
    "probe",
    "same",
    "scan",
    "shape",
    "was_cut",
    "word",
]
