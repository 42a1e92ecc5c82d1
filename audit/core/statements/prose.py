"""In which language the prose of a text is written: Han, Latin, or both. What is written in another language can be compared
by facts and identifiers only (AUDIT-REFINEMENTS §2.5: no common script → unscored).

A Chinese message full of English names is Chinese prose: Latin words count beside Han only when they form sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from audit.core.statements.headings import walk

Script = Literal["han", "latin"]
MAX_LOOK = 1 << 16

_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN = re.compile(r"[A-Za-z]{3,}")
_GLUE = re.compile(
    r"\b(?:the|is|are|was|were|to|of|and|for|with|must|be|not|from|that|has|have|by|in|on|an?|it|this|please)\b",
    re.IGNORECASE,
)
_PROSE_GLUE = 2


@lru_cache(maxsize=64)
def scripts_of(text: str) -> frozenset[Script]:
    """Scripts of the prose of a text (its first MAX_LOOK code points); headings do not count."""
    found: set[Script] = set()
    for _, _, line in walk(text[:MAX_LOOK]):
        if _HAN.search(line):
            found.add("han")
            if len(_GLUE.findall(_beside_han(line))) > _PROSE_GLUE:
                found.add("latin")
        elif len(_LATIN.findall(line)) >= _PROSE_GLUE and _GLUE.search(line):
            found.add("latin")
        if len(found) > 1:
            break
    if not found and _LATIN.search(text[:MAX_LOOK]):
        found.add("latin")
    return frozenset(found)


def _beside_han(line: str) -> str:
    """The longest stretch of a line without Han: a whole sentence in it is prose of its own."""
    return max(_HAN.split(line), key=len)


def script_of(text: str) -> Script:
    """The script a short text has to be compared in: Han as soon as it holds any."""
    return "han" if _HAN.search(text) else "latin"


def scripts_of_all(texts: Iterable[str]) -> frozenset[Script]:
    """Scripts of the prose of several texts."""
    seen: frozenset[Script] = frozenset()
    for text in texts:
        seen |= scripts_of(text)
        if len(seen) > 1:
            break
    return seen
