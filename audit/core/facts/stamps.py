"""Dates and times, addresses, versions, ports (AUDIT-REFINEMENTS §2.4). Each scan gets a text with earlier classes masked."""

from __future__ import annotations

import re
from bisect import bisect_left

from audit.core.facts.chars import EXTENSIONS, is_han, words
from audit.core.facts.model import Fact

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
_IP = re.compile(
    r"([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})(?::([0-9]{1,5})(?![0-9])|/([0-9]{1,2})(?![0-9/]))?"
)
_PORTED = re.compile(r":([0-9]{2,5})(?![0-9A-Za-z_])")
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*\Z")
_VERSION = re.compile(
    r"[0-9]{1,8}(?:\.[0-9]{1,8}){1,3}(?:-(?:alpha|beta|rc|pre|dev|next|canary|post)(?:[.-]?[0-9]{1,8}){0,2}|(?:a|b|rc)[0-9]{1,8}(?![0-9A-Za-z]))?"
    r"(?:\+[0-9A-Za-z][0-9A-Za-z.]{0,24}(?<!\.))?"
)
_PORT_WORDS = [(w, re.compile(w + "(?![A-Za-z])")) for w in ("port", "Port", "PORT", "端口")]
_PORT_TAIL = re.compile(
    r"[\"'`*]{0,3}[ \t]{0,3}(?:[:：=]|(?:is|to)[ \t]|为|是|改成|改为|设为|用)?[ \t]{0,3}[\"'`*]{0,3}([0-9]{2,5})(?![0-9A-Za-z_])"
)
_PORT_BEFORE = re.compile(r"([0-9]{4,5})[ \t]?\Z")
_NOT_PORT = words("support import report export transport viewport passport airport rapport sport carport seaport teleport reimport")


Runs = list[tuple[int, int]]  # digit runs of a text, in order; the text may have been masked since


def datetimes(text: str, runs: Runs) -> list[Fact]:
    """Canon `YYYY-MM-DD[ HH:MM[:SS]]`, `MM-DD[ HH:MM]` or `HH:MM[:SS]`; zones and fractions are dropped."""
    facts: list[Fact] = []
    done = 0
    n = len(text)
    for at, stop in runs:
        if stop - at != 4 or stop >= n or text[stop] not in "-/ 年":
            continue
        m = _DATE.match(text, at)
        if m is None:
            continue
        g = m.groups()
        month, day = (g[1] or g[3] or g[5]), (g[2] or g[4] or g[6])
        if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
            continue
        start, end, clock = m.start(), m.end(), _clock(g[7], g[8], g[9])
        if g[7] is not None and (clock is None or not _edge_after(text, end)):
            clock, end = None, _date_end(text, m, g)
        if _edge_before(text, start) and _edge_after(text, end):
            facts.append(_stamp(text, start, end, f"{g[0]}-{int(month):02}-{int(day):02}", clock))
    iso = [(f.start, f.end) for f in facts]
    facts += [f for f in _english_dates(text) if not _overlaps(iso, f.start, f.end)]
    found = sorted((f.start, f.end) for f in facts)
    if "月" in text:
        for m in _MONTH_DAY.finditer(text):
            if not _overlaps(found, m.start(), m.end()) and _edge_before(text, m.start()):
                month, day = int(m.group(1)), int(m.group(2))
                if 1 <= month <= 12 and 1 <= day <= 31:
                    clock = _clock(m.group(3), m.group(4), m.group(5))
                    facts.append(_stamp(text, m.start(), m.end(), f"{month:02}-{day:02}", clock))
        found = sorted((f.start, f.end) for f in facts)
    at = 0
    for start, stop in runs:
        if stop - start > 2 or stop >= n or text[stop] not in ":：" or start < done:
            continue
        m = _CLOCK.match(text, start)
        if m is None:
            continue
        end = m.end()
        while at < len(found) and found[at][1] <= start:
            at += 1
        if at < len(found) and found[at][0] < end:
            continue
        done = end
        clock = _clock(m.group(1), m.group(2), m.group(3))
        if clock is not None and _edge_before(text, start) and _edge_after(text, end):
            facts.append(Fact("datetime", m.group(), clock, start, end))
    return facts


def _english_dates(text: str) -> list[Fact]:
    """`19 December 2026`, `Dec 19, 2026`, `19 December`: canon as of `2026年12月19日` and `12月19日`."""
    facts = []
    for m in _ENGLISH_MONTH.finditer(text):
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


def addresses(text: str, runs: Runs) -> list[Fact]:
    """IPv4 with `:port` or `/len`, `host.name:port`, `host-1:5432`, `localhost:port`; canon is lower case."""
    facts = []
    for start, stop in runs:
        if stop - start > 3 or text[stop : stop + 1] != "." or (m := _IP.match(text, start)) is None:
            continue
        end = m.end()
        if any(int(m.group(i)) > 255 for i in range(1, 5)) or not _edge(text, start, end):
            continue
        if int(m.group(5) or 0) <= 65535 and int(m.group(6) or 0) <= 32:
            facts.append(Fact("ip", m.group(), m.group(), start, end))
    taken = {f.end for f in facts}
    done = 0
    for m in _PORTED.finditer(text):
        end = m.end()
        if end in taken or int(m.group(1)) > 65535:
            continue
        start = m.start()
        while start > done and m.start() - start < 254 and _in_host(text[start - 1]):
            start -= 1
        done = end
        host = text[start : m.start()]
        if _is_host(host, m.group(1)) and not (start and (text[start - 1] in "/_\\:\x00" or text[start - 1] == ".")):
            if text[end : end + 1] not in (":", "/") or not text[end + 1 : end + 2].isdigit():
                facts.append(Fact("ip", text[start:end], text[start:end].lower(), start, end))
    return facts


def _in_host(c: str) -> bool:
    return c.isascii() and (c.isalnum() or c in ".-")


def _is_host(host: str, port: str) -> bool:
    if host == "localhost":
        return True
    if _HOST.match(host) is None or host != host.lower() or host[-1] in ".-" or ".." in host:
        return False
    labels = host.split(".")
    if len(labels) > 1:
        last = labels[-1]
        return len(last) > 1 and last.isalpha() and last not in EXTENSIONS
    # One label with a dash (`pg-prod-02:5433`): a host only with a real port; `row-3:12` is not.
    return "-" in host and len(port) >= 4 and int(port) > 1023 and any(c.isalpha() for c in host.split("-")[0])


def versions(text: str, runs: Runs) -> list[Fact]:
    """`v` and 2–4 parts, or 3–4 parts, optional pre-release; canon without `v`, lower case."""
    facts = []
    for start, stop in runs:
        if text[stop : stop + 1] != "." or (m := _VERSION.match(text, start)) is None:
            continue
        end = m.end()
        v = start > 0 and text[start - 1] in "vV"
        first = start - 1 if v else start
        if m.group().count(".", 0, len(m.group())) < (1 if v else 2) or not _edge(text, first, end):
            continue
        facts.append(Fact("version", text[first:end], m.group().lower(), first, end))
    return facts


def _edge(text: str, start: int, end: int) -> bool:
    """No letter, digit, `_` or dot before; none behind, nor a dot with a letter or digit."""
    if start > 0:
        c = text[start - 1]
        if (c.isalnum() and not is_han(c)) or c in "_.\x00":
            return False
        if c == "-" and start > 1 and text[start - 2] in "0123456789":
            return False
    if end >= len(text):
        return True
    c = text[end]
    if (c.isalnum() and not is_han(c)) or c in "_\x00":
        return False
    return not (c == "." and text[end + 1 : end + 2].isalnum() and text[end + 1 : end + 2].isascii())


def ports(text: str, _runs: Runs) -> list[Fact]:
    """Digits after a word that ends in `port` or `端口`, or 4–5 digits before it; canon is the digits."""
    facts: list[Fact] = []
    done = -1
    words = [m for word, pattern in _PORT_WORDS if word in text for m in pattern.finditer(text)]
    words.sort(key=lambda m: m.start())
    for m in words:
        start, end = m.span()
        if m.group()[0] in "pP":
            word = start
            while word > 0 and start - word < 40 and text[word - 1].isascii() and (text[word - 1].isalpha()):
                word -= 1
            if text[word:end].lower() in _NOT_PORT:
                continue
        elif text[end : end + 1] == "号":
            end += 1
        tail = _PORT_TAIL.match(text, end)
        span = tail.span(1) if tail else None
        if span and (
            int(text[span[0] : span[1]]) > 65535
            or text[span[1] : span[1] + 1] == "."
            and text[span[1] + 1 : span[1] + 2].isdigit()
        ):
            span = None
        if span is None:
            before = _PORT_BEFORE.search(text, max(done, start - 6, 0), start)
            if before and int(before.group(1)) <= 65535 and _edge(text, before.start(1), before.end(1)):
                following = text[end : end + 1]
                if not (following.isascii() and following.isalnum()):
                    span = before.span(1)
        if span and span[0] > done:
            done = span[1]
            facts.append(Fact("port", text[span[0] : span[1]], text[span[0] : span[1]], span[0], span[1]))
    return facts
