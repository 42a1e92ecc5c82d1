"""How much of a claim's content the words of the humans hold: facts, identifiers, word stems, Han bigrams.

Rule: AUDIT-REFINEMENTS §2.5, for claims in indirect speech, which cannot be compared letter by letter. People are
paraphrased, so only a clearly low overlap says something; it makes a candidate.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from audit.core.statements.lexicon import alternatives, concepts, stem
from audit.core.statements.terms import Terms

MAX_WORDS_TEXT = 1 << 18
"""Code points of all texts together that are looked at, the first ones; more is pasted."""
STRONG_WEIGHT = 2

_WORD = re.compile(r"[a-z0-9]+")
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_HAN = re.compile(r"[\u3400-\u9fff]")
_HAN_RUN = re.compile(r"[\u3400-\u9fff]+")
_LONG_WORD, _HEAD = 6, 5


class Words:
    """What some texts say, folded once and asked for many terms; `cut` when they were too long to look at all."""

    __slots__ = ("_bigrams", "_chars", "_concepts", "_folded", "_heads", "_numbers", "_stems", "cut")

    def __init__(self, texts: Iterable[str]) -> None:
        joined = "\n".join(texts)
        self.cut = len(joined) > MAX_WORDS_TEXT
        text = unicodedata.normalize("NFKC", joined[:MAX_WORDS_TEXT]).casefold()
        words = set(_WORD.findall(text))
        self._folded = "".join(text.split())
        self._stems = frozenset(stem(word) for word in words)
        self._heads = frozenset(word[:_HEAD] for word in words if len(word) >= _LONG_WORD)
        self._numbers = frozenset(_NUMBER.findall(text.replace(",", "")))
        self._concepts = frozenset(concepts(text))
        self._chars = frozenset(_HAN.findall(text))
        self._bigrams = frozenset(run[at : at + 2] for run in _HAN_RUN.findall(text) for at in range(len(run) - 1))

    def share(self, terms: Terms) -> float:
        """Share of the terms that the texts hold, 0 to 1; a strong one weighs two, half a Han bigram counts half."""
        whole = STRONG_WEIGHT * len(terms.strong) + len(terms.weak)
        if not whole:
            return 1.0
        held = STRONG_WEIGHT * sum(1 for term in terms.strong if self.strong(term))
        return (held + sum(self._parts(term) for term in terms.weak)) / whole

    def _parts(self, term: str) -> float:
        """A joined word (`one-page`) is held as far as its parts are."""
        parts = [stem(part) for part in term.split("-") if part] if "-" in term and term.isascii() else []
        if len(parts) < 2:
            return self.weak(term)
        return max(self.weak(term), self.weak("".join(parts)), sum(map(self.weak, parts)) / len(parts))

    def strong(self, term: str) -> bool:
        """The name occurs, or – for an amount – its number does, or a listed word of the same meaning."""
        folded = "".join(unicodedata.normalize("NFKC", term).casefold().split())
        if folded in self._folded:
            return True
        if folded[:1].isdigit():
            number = _NUMBER.match(folded.replace(",", ""))
            return number is not None and number.group() in self._numbers
        return folded.isalpha() and self.weak(stem(folded)) > 0

    def weak(self, term: str) -> float:
        """1 when the word or one of the same meaning occurs, ½ for a Han bigram whose characters stand apart."""
        for other in alternatives(term):
            if other in (self._stems if other.isascii() else self._concepts):
                return 1.0
        if term.isascii():
            return 1.0 if len(term) >= _HEAD and term[:_HEAD] in self._heads else 0.0
        if term in self._bigrams or (len(term) == 1 and term in self._chars):
            return 1.0
        for char in term:
            if any(other in self._stems for other in alternatives(char) if other.isascii()):
                return 1.0
        return 0.5 if len(term) > 1 and all(char in self._chars for char in term) else 0.0
