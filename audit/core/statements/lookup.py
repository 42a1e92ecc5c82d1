"""Looks for a value in a text: by canon, at boundaries, and as the same count of another noun.

Rule: AUDIT-REFINEMENTS §2.5 (`new` is matched at boundaries and by canon), §2.3 (generic counters).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from audit.core.facts import Fact, extract, occurs, same
from audit.core.statements.sentences import has_han

# Units whose amount means something else when the unit differs; any other noun after a number only says what is counted.
_MEASURES = re.compile(
    r"\s?(?:[kmgtp]i?b(?:ps|/s)?\b|bytes?\b|[nuµμm]?s\b|sec|min|h\b|hrs?\b|hours?|days?|weeks?|"
    r"months?|years?|%|％|percent|px\b|[kmg]?hz\b|"
    r"[kcmnµ]?m\b|kg\b|°|℃|元|usd|eur|毫秒|微秒|纳秒|秒|分钟|小时|天|周|星期|个月|年|字节|倍|x\b)",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def _facts_of(value: str) -> tuple[Fact, ...]:
    return tuple(extract(value))


class Text:
    """One text searched for several values: keeps its facts and folded form."""

    __slots__ = ("_facts", "_folded", "raw")

    def __init__(self, raw: str) -> None:
        self.raw = raw
        self._facts: list[Fact] | None = None
        self._folded: str | None = None

    @property
    def facts(self) -> list[Fact]:
        if self._facts is None:
            self._facts = extract(self.raw)
        return self._facts

    @property
    def folded(self) -> str:
        if self._folded is None:
            self._folded = " ".join(unicodedata.normalize("NFKC", self.raw).casefold().split())
        return self._folded

    def holds(self, value: str) -> bool:
        """True when the value occurs at boundaries, by canon, or – a counted amount – as the same number of anything."""
        whole = [f for f in _facts_of(value) if f.end - f.start >= len(value.strip()) - 1]
        if whole and any(same(whole[0], f) for f in self.facts):
            return True
        if whole and occurs(whole[0], self.raw, self.facts):
            return True
        if bounded(value, self.folded):
            return True
        return self._counted(value) or _path_tail(value, self.folded)

    def _counted(self, value: str) -> bool:
        number = re.match(
            r"[^\d]?\s?(\d[\d,]*(?:\.\d+)?)(.*)$", unicodedata.normalize("NFKC", value).strip(), re.DOTALL
        )
        if not number or not number.group(2).strip():
            return False
        digits, unit = number.group(1).replace(",", ""), number.group(2)
        if any(char.isdigit() for char in unit):  # a date or a list of numbers is no count
            return False
        measure = _MEASURES.match(unit)
        for hit in _bounded_hits(digits, self.folded.replace(",", "") if "," in number.group(1) else self.folded):
            rest = hit[: len(unit) + 12]
            # A measured amount may lose its unit (long numbers only), never change it; a count may change its noun.
            if measure is None and not _MEASURES.match(rest):
                return True
            if measure is not None and len(digits) >= 3 and not re.match(r"\s?[a-z%°\u3400-\u9fff]", rest):
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
    needle = " ".join(unicodedata.normalize("NFKC", value).casefold().split())
    if not needle:
        return False
    if _bounded_once(needle, folded):
        return True
    # White space beside Han is typography: `500 行` = `500行`.
    tight = re.sub(r"\s*([\u3400-\u9fff])\s*", r"\1", needle)
    return has_han(needle) and _bounded_once(tight, re.sub(r"\s*([\u3400-\u9fff])\s*", r"\1", folded))


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


def _path_tail(value: str, folded: str) -> bool:
    """A path whose last segment (with an extension) stands alone in the text still names the file."""
    tail = value.replace("\\", "/").rstrip("/").rsplit("/", 1)
    return len(tail) == 2 and "." in tail[1][1:] and len(tail[1]) > 4 and bounded(tail[1], folded)
