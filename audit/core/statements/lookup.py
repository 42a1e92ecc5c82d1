"""Looks for a value in a text: by canon, at boundaries, and as the same count of another noun.

Rule: AUDIT-REFINEMENTS §2.5 (`new` is matched at boundaries and by canon), §2.3 (generic counters).
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from audit.core.facts import Fact, Haystack, extract, occurs
from audit.core.statements.sentences import has_han

# Units whose amount means something else when the unit differs; any other noun after a number only says what is counted.
_MEASURES = re.compile(
    r"\s?(?:[kmgtp]i?b(?:ps|/s)?\b|bytes?\b|[nuµμm]?s\b|sec|min|h\b|hrs?\b|hours?|days?|weeks?|"
    r"months?|years?|%|％|percent|px\b|[kmg]?hz\b|"
    r"[kcmnµ]?m\b|kg\b|°|℃|元|usd|eur|毫秒|微秒|纳秒|秒|分钟|小时|天|周|星期|个月|年|字节|倍|x\b)",
    re.IGNORECASE,
)


_COUNT = re.compile(r"[^\d]?\s?(\d[\d,]*(?:\.\d+)?)(.*)$", re.DOTALL)
_BESIDE_HAN = re.compile(r"\s*([\u3400-\u9fff])\s*")


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A value made ready once for all texts it is looked for in."""

    fact: Fact | None
    needle: str
    tight: str  # the needle without white space beside Han; "" without Han
    tail: str  # last segment of a path, when it names the file
    digits: str  # of a counted amount, else ""
    commas: bool
    unit: str
    measured: bool


@lru_cache(maxsize=4096)
def _wanted(value: str) -> _Wanted:
    whole = [f for f in extract(value) if f.end - f.start >= len(value.strip()) - 1]
    needle = _folded(value)
    tail = value.replace("\\", "/").rstrip("/").rsplit("/", 1)
    named = len(tail) == 2 and "." in tail[1][1:] and len(tail[1]) > 4
    number = _COUNT.match(unicodedata.normalize("NFKC", value).strip())
    # Digits in the unit: a date or a list of numbers is no count.
    counted = number is not None and number.group(2).strip() and not any(char.isdigit() for char in number.group(2))
    digits, unit = (number.group(1), number.group(2)) if number is not None and counted else ("", "")
    return _Wanted(
        whole[0] if whole else None,
        needle,
        _BESIDE_HAN.sub(r"\1", needle) if has_han(needle) else "",
        tail[1] if named else "",
        digits.replace(",", ""),
        "," in digits,
        unit,
        _MEASURES.match(unit) is not None,
    )


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


class Text:
    """One text searched for several values: keeps its facts and folded form."""

    __slots__ = ("_facts", "_folded", "_hay", "raw")

    def __init__(self, raw: str) -> None:
        self.raw = raw
        self._facts: list[Fact] | None = None
        self._folded: str | None = None
        self._hay: Haystack | None = None

    @property
    def facts(self) -> list[Fact]:
        if self._facts is None:
            self._facts = extract(self.raw)
        return self._facts

    @property
    def folded(self) -> str:
        if self._folded is None:
            self._folded = _folded(self.raw)
        return self._folded

    def holds(self, value: str) -> bool:
        """True when the value occurs at boundaries, by canon, or – a counted amount – as the same number of anything."""
        wanted = _wanted(value)
        if wanted.fact is not None:
            if self._hay is None:
                self._hay = Haystack(self.raw)
            if occurs(wanted.fact, self._hay, self.facts):
                return True
        if _bounded(wanted, self.folded):
            return True
        return self._counted(wanted) or (wanted.tail != "" and bounded(wanted.tail, self.folded))

    def _counted(self, wanted: _Wanted) -> bool:
        if not wanted.digits:
            return False
        text = self.folded.replace(",", "") if wanted.commas else self.folded
        for hit in _bounded_hits(wanted.digits, text):
            rest = hit[: len(wanted.unit) + 12]
            # A measured amount may lose its unit (long numbers only), never change it; a count may change its noun.
            if not wanted.measured and not _MEASURES.match(rest):
                return True
            if wanted.measured and len(wanted.digits) >= 3 and not re.match(r"\s?[a-z%°\u3400-\u9fff]", rest):
                return True
        return False


def _bounded_hits(needle: str, text: str) -> list[str]:
    hits: list[str] = []
    at = text.find(needle)
    while at >= 0 and len(hits) < 200:
        if _edges(needle, text, at):
            hits.append(text[at + len(needle) : at + len(needle) + 40])
        at = text.find(needle, at + len(needle))
    return hits


def bounded(value: str, folded: str) -> bool:
    """Literal occurrence of a value in a folded text; ASCII edges must not run on into another word or number."""
    return _bounded(_wanted(value), folded)


def _bounded(wanted: _Wanted, folded: str) -> bool:
    if not wanted.needle:
        return False
    if _bounded_once(wanted.needle, folded):
        return True
    # White space beside Han is typography: `500 行` = `500行`.
    return wanted.tight != "" and _bounded_once(wanted.tight, _BESIDE_HAN.sub(r"\1", folded))


def _bounded_once(needle: str, text: str) -> bool:
    at = text.find(needle)
    tries = 0
    while at >= 0 and tries < 1000:
        if _edges(needle, text, at):
            return True
        tries += 1
        at = text.find(needle, at + 1)
    return False


def _edges(needle: str, text: str, at: int) -> bool:
    before, after = text[at - 1 : at], text[at + len(needle) : at + len(needle) + 2]
    first, last = needle[0], needle[-1]
    if first.isascii() and first.isalnum() and before and before.isascii() and (before.isalnum() or before == "_"):
        return False
    if first.isdigit() and text[max(0, at - 2) : at][-2:-1].isdigit() and before in ".,":
        return False
    if last.isascii() and last.isalnum() and after:
        if after[0].isascii() and (after[0].isalnum() or after[0] == "_"):
            return last.isalpha() and after in ("s", "s ", "s.", "s,", "s)", "s;", "s`")
        if last.isdigit() and after[0] in ".," and after[1:2].isdigit():
            return False
        if last.isdigit() and after[0] == "%":
            return False
    return True
