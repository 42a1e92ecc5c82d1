"""What a fact is: one verifiable atomic thing a text states. Classes of COMPACTION-AUDIT §4 and AUDIT-REFINEMENTS §2.4."""

from __future__ import annotations

from dataclasses import dataclass

CORE_CLASSES = ("uuid", "abs_path", "file_path", "number_unit")
EXTENDED_CLASSES = ("hex_hash", "ip", "port", "version", "datetime", "ticket", "identifier")
PATH_CLASSES = ("abs_path", "file_path")
# Code points of one text that are looked at; the rest is cut off and the caller records `block_truncated`.
MAX_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact. `start`/`end` are code points into the text as given; `text` is the prepared spelling; `canon` compares."""

    cls: str
    text: str
    canon: str
    start: int
    end: int


def was_cut(text: str) -> bool:
    """True when `extract` looks only at the first MAX_BLOCK code points of this text."""
    return len(text) > MAX_BLOCK
