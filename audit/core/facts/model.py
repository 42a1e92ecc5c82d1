"""What a fact is: one verifiable atomic thing a text states. Classes of COMPACTION-AUDIT §4 and AUDIT-REFINEMENTS §2.4."""

from __future__ import annotations

from dataclasses import dataclass

CORE_CLASSES = ("uuid", "abs_path", "file_path", "number_unit")
EXTENDED_CLASSES = ("hex_hash", "ip", "port", "version", "datetime", "ticket", "identifier")
PATH_CLASSES = ("abs_path", "file_path")
# Bounds of one text; what lies behind any of them is counted in `Scan.unread`, and the caller records `block_truncated`.
MAX_BLOCK = 1 << 20  # code points that are looked at
MAX_FACTS = 50_000  # facts; the text ends behind the last one
MAX_PLACES = 50_000  # places that one scan looks at (a separator, a number before what may be a unit, …)
MAX_WORK = 200_000  # places of all scans together, those of paths counted four times
MAX_RUN = 1 << 15  # code points of one run without white space or punctuation that the path scan looks at


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact. `start`/`end` are code points into the text as given; `text` is the prepared spelling; `canon` compares."""

    cls: str
    text: str
    canon: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Scan:
    """The facts of one text, sorted by start, and how many of its code points were not looked at."""

    facts: list[Fact]
    unread: int
