"""From a text to its facts: the order of the classes and what masks what (COMPACTION-AUDIT §4, AUDIT-REFINEMENTS §2.3–2.4)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection

from audit.core.facts.datetimes import datetimes
from audit.core.facts.identifiers import identifiers, stores
from audit.core.facts.ids import hashes, tickets, uuids
from audit.core.facts.model import EXTENDED_CLASSES, Fact
from audit.core.facts.numbers import numbers
from audit.core.facts.paths import paths
from audit.core.facts.prepare import Prepared, fold, mask
from audit.core.facts.quoted import quoted_paths
from audit.core.facts.stamps import addresses, ports, versions
from audit.core.facts.urls import url_spans
from audit.core.facts.windows import windows_paths

# A text without any of these has no fact of any class but an all-letter UUID or a bare dot file.
_ANY = re.compile(r"[0-9/\\._\uff10-\uff19-]")
_DIGITS = re.compile(r"[0-9]+")


def extract(text: str, *, extended: bool = True, markers: Collection[str] = ()) -> list[Fact]:
    """All facts of `text`, sorted by start; never raises.

    `extended=False` leaves out the classes of AUDIT-REFINEMENTS §2.4 (they still mask their text for numbers).
    `markers` adds first segments to PATH_MARKERS. Only the first MAX_BLOCK code points are looked at (`was_cut`).
    """
    if _ANY.search(text) is None and text.count("-") < 4:
        return []
    prepared = Prepared(text)
    work, facts = _paths(prepared.text, markers)
    work = fold(work)
    if extended and "://" in prepared.text:
        facts.extend(stores(prepared.text))
    runs = [m.span() for m in _DIGITS.finditer(work)]
    if runs:
        for scan in (datetimes, addresses, versions, hashes, ports, tickets):
            more = scan(work, runs)
            if more:
                facts.extend(more)
                work = mask(work, ((f.start, f.end) for f in more))
        facts.extend(numbers(work))
    if extended:
        facts.extend(_apart(identifiers(work, runs), facts))
    out = []
    for f in facts:
        if extended or f.cls not in EXTENDED_CLASSES:
            start, end = prepared.origin(f.start, f.end)
            spelled = prepared.text[f.start : f.end]
            out.append(
                f
                if (start, end) == (f.start, f.end) and spelled == f.text
                else Fact(f.cls, spelled, f.canon, start, end)
            )
    out.sort(key=lambda f: (f.start, f.end, f.cls))
    return out


def _paths(text: str, markers: Collection[str]) -> tuple[str, list[Fact]]:
    """(text with URLs, paths and UUIDs masked; facts of these classes)."""
    urls, files = url_spans(text)
    work = mask(text, urls)
    if files:
        work = _blank(work, files)
    facts = uuids(work) if work.count("-") >= 4 else []
    hidden = [(f.start, f.end) for f in facts]
    starts = {end for _, end in files}
    quoted = quoted_paths(work)
    if quoted:
        facts += quoted
        hidden += [(f.start, f.end) for f in quoted]
        work = mask(work, ((f.start, f.end) for f in quoted))
    if "\\" in work or ":/" in work:
        found, spans = windows_paths(work)
        facts += found
        hidden += spans
        work = mask(work, spans)
    rest = paths(work, starts, markers)
    facts += rest.facts
    return mask(work, (*hidden, *rest.masks)), facts


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
