"""Dates and times of day: ISO, `Y/M/D`, Chinese and English dates, clock times (AUDIT-REFINEMENTS §2.4; English is ours)."""

from __future__ import annotations

import re
from bisect import bisect_left

from audit.core.facts.chars import is_han
from audit.core.facts.model import Fact
from audit.core.facts.reach import Reach

_T = r"([0-9]{1,2})[:：]([0-9]{2})(?:[:：]([0-9]{2}))?(?:[.,][0-9]{1,9}(?![0-9]))?"
_ZONE = r"(?: ?(?:Z|UTC|[+-][0-9]{2}:?[0-9]{2})(?![0-9A-Za-z]))?"
_DATE = re.compile(
    r"([0-9]{4})(?:-([0-9]{1,2})-([0-9]{1,2})|/([0-9]{1,2})/([0-9]{1,2})|"
    r" ?年 ?([0-9]{1,2}) ?月 ?([0-9]{1,2}) ?[日号])" + rf"(?:(?:[T,，]| )? ?{_T}{_ZONE})?"
)
_MONTH_DAY = re.compile(r"([0-9]{1,2}) ?月 ?([0-9]{1,2}) ?[日号]" + rf"(?:[,，]? ?{_T})?")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ENGLISH_MONTH = re.compile(
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)(?![a-z])"
)
_DAY_BEFORE = re.compile(r"(?<![0-9.:/-])([0-9]{1,2})(?:st|nd|rd|th)?(?: of)? \Z")
_DAY_AFTER = re.compile(r"\.? ([0-9]{1,2})(?:st|nd|rd|th)?(?![0-9:.]|[ ]?%)")
_YEAR_AFTER = re.compile(r",? ([0-9]{4})(?![0-9:])")
_CLOCK = re.compile(_T)

# Where a full date or a clock time may begin: cheap tests before the patterns above.
_YEAR_AHEAD = re.compile(r"(?<![0-9])(?=[0-9]{4}[-/ 年] ?[0-9])")
_CLOCK_AHEAD = re.compile(r"(?<![0-9])(?=[0-9]{1,2}[:：][0-9]{2})")


def datetimes(text: str, reach: Reach) -> list[Fact]:
    """Canon `YYYY-MM-DD[ HH:MM[:SS]]`, `MM-DD[ HH:MM]` or `HH:MM[:SS]`; zones and fractions are dropped."""
    facts = _full_dates(text, reach)
    iso = _spans(facts)
    facts += [f for f in _english_dates(text, reach) if not _overlaps(iso, f.start, f.end)]
    if "月" in text:
        taken = _spans(facts)
        facts += [f for f in _month_days(text, reach) if not _overlaps(taken, f.start, f.end)]
    taken = _spans(facts)
    facts += [f for f in _clocks(text, reach) if not _overlaps(taken, f.start, f.end)]
    return facts


def _spans(facts: list[Fact]) -> list[tuple[int, int]]:
    return sorted((f.start, f.end) for f in facts)


def _full_dates(text: str, reach: Reach) -> list[Fact]:
    facts: list[Fact] = []
    for place in reach.places(_YEAR_AHEAD.finditer(text)):
        m = _DATE.match(text, place.start())
        if m is None:
            continue
        g = m.groups()
        month, day = (g[1] or g[3] or g[5]), (g[2] or g[4] or g[6])
        if not _in_year(int(month), int(day)):
            continue
        start, end, clock = m.start(), m.end(), _clock(g[7], g[8], g[9])
        if g[7] is not None and (clock is None or not _edge_after(text, end)):
            clock, end = None, _date_end(text, m, g)
        if _edge_before(text, start) and _edge_after(text, end):
            facts.append(_stamp(text, start, end, f"{g[0]}-{int(month):02}-{int(day):02}", clock))
    return facts


def _month_days(text: str, reach: Reach) -> list[Fact]:
    facts: list[Fact] = []
    for m in reach.places(_MONTH_DAY.finditer(text)):
        month, day = int(m.group(1)), int(m.group(2))
        if _in_year(month, day) and _edge_before(text, m.start()):
            clock = _clock(m.group(3), m.group(4), m.group(5))
            facts.append(_stamp(text, m.start(), m.end(), f"{month:02}-{day:02}", clock))
    return facts


def _clocks(text: str, reach: Reach) -> list[Fact]:
    facts: list[Fact] = []
    done = 0
    for place in reach.places(_CLOCK_AHEAD.finditer(text)):
        start = place.start()
        m = _CLOCK.match(text, start) if start >= done else None
        if m is None:
            continue
        done = m.end()
        clock = _clock(m.group(1), m.group(2), m.group(3))
        if clock is not None and _edge_before(text, start) and _edge_after(text, done):
            facts.append(Fact("datetime", m.group(), clock, start, done))
    return facts


def _in_year(month: int, day: int) -> bool:
    return 1 <= month <= 12 and 1 <= day <= 31


def _english_dates(text: str, reach: Reach) -> list[Fact]:
    """`19 December 2026`, `Dec 19, 2026`, `19 December`: canon as of `2026年12月19日` and `12月19日`."""
    facts: list[Fact] = []
    for m in reach.places(_ENGLISH_MONTH.finditer(text)):
        before, after = _DAY_BEFORE.search(text, max(0, m.start() - 8), m.start()), _DAY_AFTER.match(text, m.end())
        if before is not None:
            year = _YEAR_AFTER.match(text, m.end())
            start, end, day = before.start(1), year.end() if year else m.end(), before.group(1)
        elif after is not None:
            year = _YEAR_AFTER.match(text, after.end())
            start, end, day = m.start(), year.end() if year else after.end(), after.group(1)
        else:
            continue
        month = _MONTHS.index(m.group()[:3].lower()) + 1
        if year is None and len(m.group()) < 5 and m.group() not in ("May", "June", "July"):
            continue  # `Nov 12 10:00` of a listing
        if 1 <= int(day) <= 31 and _edge_before(text, start) and _edge_after(text, end):
            date = f"{month:02}-{int(day):02}"
            facts.append(_stamp(text, start, end, f"{year.group(1)}-{date}" if year else date, None))
    return facts


def _date_end(text: str, m: re.Match[str], g: tuple[str | None, ...]) -> int:
    """End of the date alone, when what follows is not a time of day."""
    last = 2 if g[2] else 4 if g[4] else 6
    end = m.end(last + 1)
    return end + (1 if text[end : end + 1] in ("日", "号") else 2 if text[end + 1 : end + 2] in ("日", "号") else 0)


def _stamp(text: str, start: int, end: int, date: str, clock: str | None) -> Fact:
    return Fact("datetime", text[start:end], date if clock is None else f"{date} {clock}", start, end)


def _clock(hour: str | None, minute: str | None, second: str | None) -> str | None:
    if (
        hour is None
        or minute is None
        or int(hour) > 24
        or int(minute) > 59
        or (second is not None and int(second) > 60)
    ):
        return None
    return f"{int(hour):02}:{minute}" + (f":{second}" if second is not None else "")


def _overlaps(spans: list[tuple[int, int]], start: int, end: int) -> bool:
    """True when a span (sorted) overlaps start..end."""
    i = bisect_left(spans, (start + 1, 0))
    return (i < len(spans) and spans[i][0] < end) or (i > 0 and spans[i - 1][1] > start)


def _edge_before(text: str, start: int) -> bool:
    if start == 0:
        return True
    c = text[start - 1]
    if (c.isalnum() and not is_han(c)) or c in "_.:\x00":
        return False
    return not (
        c in "/-"
        and start > 1
        and text[start - 2].isalnum()
        and text[start - 2].isascii()
        and not text[start - 2].isdigit()
    )


def _edge_after(text: str, end: int) -> bool:
    if end >= len(text):
        return True
    c = text[end]
    if (c.isalnum() and not is_han(c)) or c in "_\x00":
        return False
    following = text[end + 1 : end + 2]
    return not (c in ":./：" and following.isdigit()) and not (
        c == "-" and following.isalnum() and not following.isdigit()
    )
