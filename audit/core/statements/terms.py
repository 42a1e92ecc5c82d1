"""Terms of a rule-like line and how many of them another line holds. Rule: AUDIT-REFINEMENTS §2.5.

Strong terms: identifiers, facts, quoted words. Weak terms: stems of other English words, Han bigrams.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from audit.core.facts import extract
from audit.core.statements.lexicon import alternatives, concepts, stem
from audit.core.statements.lookup import Text
from audit.core.statements.sentences import has_han, quoted_spans
from audit.core.statements.values import IDENT_SHAPE

_WORD = re.compile(r"--?[A-Za-z][\w-]*|[A-Za-z_][A-Za-z0-9_]*(?:[._/:@+-][A-Za-z0-9_]+)*[+#]{0,2}")
_PATH_WORD = re.compile(r"(?<![a-z0-9_.~-])(?:[a-z0-9_.~-]*/[a-z0-9_.-]+(?:/[a-z0-9_.-]*)+|/[a-z0-9_.-]+)")
_OWN_WORD = re.compile(r"(?<![a-z0-9_])[a-z0-9]+(?![a-z0-9_])")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*(?!\w)", re.ASCII)
_HAN_RUN = re.compile(r"[\u3400-\u9fff]+")
# Words of the cue and grammar words: they say nothing about what is ruled.
_HAN_STOP = re.compile(
    r"不要再?|不得|不能|不可以?|不许|不准|禁止|严禁|切勿|请勿|千万|必须|务必|只能|只准|只用|一律|一定|应该|应当|需要|以后|请|先别|别|都|也|还|再|就|并且|而且|"
    r"同时|另外|所有|任何|全部|那一|这一|那个|说(?![明法服])|用户|要求|注意|记住|约束|规则|的|了|在|和|与|或|及|把|将|对|给|里面?|里的|上的|使用|用|是|有|要|会|被|让|这个|那个|这些|那些|"
    r"一个|之前|之后|前|后|时|我们|你|我|它|时候|直接|随便|"
    r"已|等|到|先|不变|保持"
)
_EN_STOP_WORDS = """
a an the and or but nor so if then than that this these those it its they them their we us our you your i me my
he she of in on at to for from by with without into onto over under about as is are was were be been being am do
does did doing done don t not no never must should shall may might can could will would have has had need needs
only always ever any all some each every please just also again still use used using make sure keep kept leave
avoid don't doesn't mustn't won't can't cannot let lets get got when while during until unless before after
because since there here which who whom whose what where how why user users rule rules constraint constraints
hard recorded record saved noted strict strictly required requirement requirements mandatory forbidden
prohibited allowed disallowed instead rather stay stays remain remains now later very too more most other such
own same up out off down one thing things way note important remember explicitly instruction instructions
unchanged untouched intact frozen alone asked said told wants wanted requested ve re ll s m d per via etc ok yes
really whatever anything something yet already
"""
_EN_STOP = frozenset(stem(word) for word in _EN_STOP_WORDS.split())
_MEANT_STRONG = frozenset({"main", "master", "emoji", "root", "sudo"})


@dataclass(frozen=True, slots=True)
class Terms:
    """Strong and weak terms of one line, in order, without repeats."""

    strong: tuple[str, ...]
    weak: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.strong or self.weak)


def terms_of(text: str, cue: tuple[int, int] | None = None) -> Terms:
    """Terms of a clause; the cue's own words (positions in `text`) are left out."""
    body = text if cue is None else text[: cue[0]] + " " * (cue[1] - cue[0]) + text[cue[1] :]
    strong: dict[str, None] = {}
    chars = list(body)
    for start, end in quoted_spans(body):
        inner = body[start + 1 : end - 1].strip()
        if inner and len(inner) <= 60:
            strong[inner] = None
            chars[start:end] = " " * (end - start)
    for fact in extract("".join(chars)):
        strong["".join(chars[fact.start : fact.end]).strip()] = None
        chars[fact.start : fact.end] = " " * (fact.end - fact.start)
    rest = "".join(chars)
    mixed = has_han(body)
    weak: dict[str, None] = {}
    for m in _WORD.finditer(rest):
        word = m.group().rstrip(".:-/")
        low = word.lower()
        first = not body[: m.start()].strip(" -*•")
        if len(low) < 2 or (not mixed and (stem(low) in _EN_STOP or low in _EN_STOP)):
            continue
        if (IDENT_SHAPE.search(word) or mixed or low in _MEANT_STRONG or (word[0].isupper() and not first)) and len(
            word
        ) > 1:
            strong[word] = None
        else:
            weak[stem(low)] = None
    for m in _NUMBER.finditer(rest):
        strong[m.group()] = None
    for run in _HAN_RUN.findall(rest):
        for piece in _HAN_STOP.sub(" ", run).split():
            for at in range(max(1, len(piece) - 1)):
                weak[piece[at : at + 2]] = None
    return Terms(tuple(strong), tuple(weak))


class Line:
    """One line that may hold the terms of another; folded once."""

    __slots__ = ("_concepts", "stems", "text")

    def __init__(self, raw: str) -> None:
        self.text = Text(raw)
        # A word inside a path (`/hooks/partner/v1`) is a name's, not the line's.
        words = _PATH_WORD.sub(" ", self.text.folded) if "/" in raw else self.text.folded
        self.stems = frozenset(stem(w) for w in re.findall(r"[a-z0-9]+", words)) if raw else frozenset()
        self._concepts = frozenset(concepts(raw)) if has_han(raw) else frozenset()

    def strong(self, term: str) -> bool:
        """The strong term occurs (boundaries, canon), or as a word of the same meaning."""
        if self.text.holds(term):
            return True
        others = alternatives(stem(term))
        return len(others) > 1 and any(self._one(o) for o in others)

    def lone(self, term: str) -> bool:
        """The weak term occurs as a word of its own, not only inside a name (`PARTNER_HOOK`)."""
        if not term.isascii():
            return self.weak(term)
        words = frozenset(stem(w) for w in _OWN_WORD.findall(_PATH_WORD.sub(" ", self.text.folded)))
        return any(o in words if o.isascii() else self._one(o) for o in alternatives(term))

    def weak(self, term: str) -> bool:
        """The weak term occurs, or a listed word of the same meaning does."""
        return any(self._one(o) for o in alternatives(term)) or (
            not term.isascii()
            and len(term) == 2
            and any(self._one(o) for char in term for o in alternatives(char) if o.isascii())
        )

    def _one(self, term: str) -> bool:
        return term in self.stems if term.isascii() else (term in self._concepts or term in self.text.folded)

    def share(self, terms: tuple[str, ...], *, strong: bool) -> int:
        """How many of the terms this line holds."""
        return sum(1 for term in terms if (self.strong(term) if strong else self.weak(term)))
