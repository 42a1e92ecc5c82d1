"""From a text to its facts: the order of the classes and what masks what (COMPACTION-AUDIT §4, AUDIT-REFINEMENTS §2.3–2.4)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection

from audit.core.facts.datetimes import datetimes
from audit.core.facts.identifiers import identifiers, stores
from audit.core.facts.ids import hashes, tickets, uuids
from audit.core.facts.model import EXTENDED_CLASSES, MAX_BLOCK, MAX_WORK, Fact, Scan
from audit.core.facts.numbers import numbers
from audit.core.facts.paths import paths
from audit.core.facts.prepare import Prepared, fold, mask
from audit.core.facts.quoted import quoted_paths
from audit.core.facts.reach import Reach
from audit.core.facts.stamps import addresses, ports, versions
from audit.core.facts.urls import url_spans
from audit.core.facts.windows import windows_paths

# A text without any of these has no fact of any class but an all-letter UUID or a bare dot file.
_ANY = re.compile(r"[0-9/\\._\uff10-\uff19-]")
_DIGIT = re.compile(r"[0-9]")


def extract(text: str, *, extended: bool = True, markers: Collection[str] = ()) -> list[Fact]:
    """All facts of `text`, sorted by start; never raises. `scan` says too whether all of the text was looked at."""
    return scan(text, extended=extended, markers=markers).facts


def was_cut(text: str) -> bool:
    """True when `extract` does not look at all of this text; costs a whole extraction (`scan` gives both)."""
    return len(text) > MAX_BLOCK or scan(text).unread > 0


def scan(text: str, *, extended: bool = True, markers: Collection[str] = ()) -> Scan:
    """All facts of `text`, within the bounds of `model`, and the number of code points behind these bounds.

    `extended=False` leaves out the classes of AUDIT-REFINEMENTS §2.4 (they still mask their text for numbers).
    `markers` adds first segments to PATH_MARKERS.
    """
    if _ANY.search(text) is None and text.count("-") < 4:
        return Scan([], max(0, len(text) - MAX_BLOCK))
    prepared = Prepared(text)
    reach = Reach(len(prepared.text), work=MAX_WORK // 2 if prepared.mapped else MAX_WORK)
    work, facts = _paths(prepared.text, markers, reach)
    work = fold(work)
    if extended and "://" in prepared.text:
        facts = reach.bounded(facts + stores(prepared.text, reach))
    if _DIGIT.search(work) is not None:
        for find in (datetimes, addresses, versions, hashes, ports, tickets):
            more = find(work, reach)
            if more:
                facts = reach.bounded(facts + more)
                work = mask(work, ((f.start, f.end) for f in more))
            work = work[: reach.end]
        facts = reach.bounded(facts + numbers(work, reach))
    if extended:
        facts = reach.bounded(facts + _apart(identifiers(work[: reach.end], reach), facts))
    out = [_given(f, prepared) for f in facts if f.end <= reach.end and (extended or f.cls not in EXTENDED_CLASSES)]
    out.sort(key=lambda f: (f.start, f.end, f.cls))
    return Scan(out, len(text) - _seen(prepared, reach, min(len(text), MAX_BLOCK)))


def _seen(prepared: Prepared, reach: Reach, length: int) -> int:
    """Code points of the text as given that were looked at; `length` of it were prepared."""
    end = length if reach.end >= len(prepared.text) else prepared.origin(reach.end, reach.end + 1)[0]
    return end - reach.passed_over()


def _given(f: Fact, prepared: Prepared) -> Fact:
    """The fact as the text as given has it: its offsets, and its spelling before folding and masking."""
    start, end = prepared.origin(f.start, f.end)
    spelled = prepared.text[f.start : f.end]
    return f if (start, end) == (f.start, f.end) and spelled == f.text else Fact(f.cls, spelled, f.canon, start, end)


def _paths(text: str, markers: Collection[str], reach: Reach) -> tuple[str, list[Fact]]:
    """(text with URLs, paths and UUIDs masked, as far as it is looked at; facts of these classes)."""
    urls, files = url_spans(text)
    work = mask(text, urls)
    if files:
        work = _blank(work, files)
    facts = uuids(work, reach) if work.count("-") >= 4 else []
    hidden = [(f.start, f.end) for f in facts]
    starts = {end for _, end in files}
    quoted = quoted_paths(work, reach)
    if quoted:
        facts += quoted
        hidden += [(f.start, f.end) for f in quoted]
        work = mask(work, ((f.start, f.end) for f in quoted))
    work = work[: reach.end]
    if "\\" in work or ":/" in work:
        found, spans = windows_paths(work, reach)
        facts += found
        hidden += spans
        work = mask(work, spans)[: reach.end]
    rest = paths(work, starts, markers, reach)
    facts = reach.bounded(facts + rest.facts)
    return mask(work, (*hidden, *rest.masks))[: reach.end], facts


def _apart(more: list[Fact], facts: list[Fact]) -> list[Fact]:
    """Those of `more` that touch none of `facts`."""
    if not more:
        return more
    taken = sorted((f.start, f.end) for f in facts)
    kept = []
    for f in more:
        i = bisect_left(taken, (f.end, 0))
        if not (i and taken[i - 1][1] > f.start):
            kept.append(f)
    return kept


_DRIVE = re.compile(r"/[A-Za-z]:[\\/]")


def _blank(text: str, spans: list[tuple[int, int]]) -> str:
    """`file://` prefixes as spaces, and the slash behind them too when a drive follows (`file:///D:/…`)."""
    pieces: list[str] = []
    at = 0
    for start, end in spans:
        upto = end + 1 if _DRIVE.match(text, end) else end
        pieces.append(text[at:start])
        pieces.append(" " * (upto - start))
        at = upto
    pieces.append(text[at:])
    return "".join(pieces)
