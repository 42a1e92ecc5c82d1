"""A number and its unit that a text states apart: `mean tokens: 412`, `分区 48`, `30 instead of 300 seconds`."""

from __future__ import annotations

import re
from functools import cache

from audit.core.facts.match import MAX_TRIES, Haystack
from audit.core.facts.model import Fact
from audit.core.facts.same import same
from audit.core.facts.units import WORDS, ZH_CANON, zh_nouns

_CANON = re.compile(r"([0-9]+(?:\.[0-9]+)?) (.+)", re.DOTALL)
_REACH = 32


@cache
def _unit_words(unit: str) -> re.Pattern[str]:
    """Any spelling of a unit, ASCII ones as whole words."""
    english = sorted(word for word, (canon, _) in WORDS.items() if canon == unit and word[0].isalpha())
    chinese = sorted(word for word, canon in {**ZH_CANON, **zh_nouns()}.items() if canon == unit)
    parts = [rf"(?<![a-z]){re.escape(word)}(?![a-z])" for word in english] + [re.escape(word) for word in chinese]
    return re.compile("|".join(parts) or r"(?!)")


def beside_unit(fact: Fact, hay: Haystack) -> bool:
    """True when the number stands bare within 32 code points of a spelling of its unit, on one line."""
    found = _CANON.fullmatch(fact.canon) if fact.cls == "number_unit" else None
    if found is None:
        return False
    number, words = found[1], _unit_words(found[2])
    for spelled in sorted({number, f"{int(number):,}"} if number.isdigit() else {number}):
        at = hay.folded.find(spelled)
        for _ in range(MAX_TRIES):
            if at < 0:
                break
            end = at + len(spelled)
            if _bare(hay.folded, at, end) and _beside(fact, hay, at, end, words):
                return True
            at = hay.folded.find(spelled, end)
    return False


def _bare(text: str, at: int, end: int) -> bool:
    before, after = text[at - 1 : at], text[end : end + 1]
    if before and (before in "._,-/" or (before.isascii() and before.isalnum())):
        return False
    glued = after in ("_", "%") or (after.isascii() and after.isalnum())
    return not glued and not (after in (".", ",", ":", "-", "/") and text[end + 1 : end + 2].isdigit())


def _beside(fact: Fact, hay: Haystack, at: int, end: int, words: re.Pattern[str]) -> bool:
    first, last = hay.line_span(at, end)
    window = hay.folded[max(first, at - _REACH) : min(last, end + _REACH)].lower()
    if words.search(window) is None:
        return False
    # The number must not carry a unit of its own there.
    for other in hay.facts((first, last)):
        if other.start < end - first and at - first < other.end:
            return same(other, fact)
    return True
