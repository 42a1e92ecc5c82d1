"""Whether a claim of a summary has a source among the leaves.

Rule: AUDIT-REFINEMENTS §2.5. Quotes and consent: human leaves only, literal (case and white space dropped), consent by an
approving human clause. Rules: any leaf line with a cue and more than half of the terms.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from audit.core.statements.heard import Heard, covers
from audit.core.statements.lexicon import alternatives, stem
from audit.core.statements.model import Claim
from audit.core.statements.rule_cues import find_cue
from audit.core.statements.rules_kept import SUMMARY_CUE
from audit.core.statements.sentences import has_han
from audit.core.statements.terms import Line, Terms, terms_of

_ELLIPSIS = re.compile(r"…+|\.{3,}|\[\.\.\.\]|。{3,}")
_EDGES = " \t\r\n\"'`“”‘’「」『』*_.,;:!?()[]{}<>~-"
_DROP = re.compile(r"[\s*`_\"'“”‘’]+")
_NEGATION = re.compile(r"不|别|勿|禁|没|未|\b(?:not|no|never|don['’]?t|dont|without|stop|avoid)\b", re.IGNORECASE)
_WINDOW = 400
_HITS_PER_WORD = 200
_LINES_PER_CLAIM = 2000
_LATIN = re.compile(r"[A-Za-z]{3,}")
WORDING_SHARE, SOFT_SHARE = 0.8, 0.6


def _fold(text: str) -> str:
    return _DROP.sub("", unicodedata.normalize("NFKC", text).casefold())


class Support:
    """The leaves of one compaction, prepared once for all claims of its summary.

    `human_texts`: true human messages only. `other_texts`: text of other leaves, searched for rules and for someone
    else's consent. `before`: for each human message what the assistant said just before it, "" when nothing.
    """

    def __init__(self, human_texts: Iterable[str], other_texts: Iterable[str] = (), before: Sequence[str] = ()) -> None:
        self._human = tuple(human_texts)
        self._other = tuple(other_texts)
        self._heard = Heard(self._human, before)
        self._folded: tuple[str, ...] | None = None
        self._lowered: tuple[tuple[str, str], ...] | None = None

    def of(self, claim: Claim) -> bool:
        """True when a source was found, or when the claim cannot be checked."""
        return self.judge(claim) is not False

    def judge(self, claim: Claim) -> bool | None:
        """True when a source was found, None when the claim cannot be checked in these leaves."""
        if claim.basis == "told":
            return self._heard.told(claim)
        if claim.basis == "other":
            return self._heard.endorsed(claim, self._other)
        if claim.kind == "user_quote":
            return self._quoted(claim)
        return self._heard.consented(claim) if claim.kind == "user_consent" else self._ruled(claim)

    def _quoted(self, claim: Claim) -> bool:
        if self._folded is None:
            self._folded = tuple(_fold(text) for text in self._human)
        pieces = [_fold(piece).strip(_EDGES) for piece in _ELLIPSIS.split(claim.text)]
        pieces = [piece for piece in pieces if piece]
        if not pieces or any(_in_order(pieces, text) for text in self._folded):
            return True
        if claim.basis == "literal":
            return False
        if claim.basis == "soft" and not self._shares_script(claim.text):
            return True  # a request told in another language cannot be compared with what was typed
        terms = terms_of(claim.text)
        share = WORDING_SHARE if claim.basis == "wording" else SOFT_SHARE
        return any(covers(terms, Line(text), share) and _same_sign(claim.text, text) for text in self._human)

    def _shares_script(self, text: str) -> bool:
        if has_han(text):
            return any(has_han(human) for human in self._human)
        return not _LATIN.search(text) or any(_LATIN.search(human) for human in self._human)

    def _ruled(self, claim: Claim) -> bool:
        cue = find_cue(claim.text)
        terms = terms_of(claim.text, (cue.start, cue.end) if cue else None)
        # `覆盖率不低于 80%` bounds a value that people state without any cue (`覆盖率到 80%`).
        bounded = bool(terms.strong) and _BOUND.search(claim.text) is not None
        if bounded:
            terms = terms_of(_BOUND.sub(" ", claim.text))
        count = len(terms.strong) + len(terms.weak)
        if not count:
            return True
        positive = cue is not None and cue.polarity == "positive"
        some_strong = False
        for line in self._lines_with(terms):
            cued = positive or bounded or bool(SUMMARY_CUE.search(line))
            if not cued:
                continue
            row = Line(line)
            strong = row.share(terms.strong, strong=True)
            if 2 * (strong + row.share(terms.weak, strong=False)) > count:
                return True
            some_strong = some_strong or strong > 0
        if self._human and not self._shares_script(claim.text):
            # Told in another language: only names can be compared.
            return not terms.strong or some_strong
        return False

    def _lines_with(self, terms: Terms) -> Iterator[str]:
        """Lines that may hold more than half of the terms: each holds at least one of any half of them."""
        if self._lowered is None:
            self._lowered = tuple((text, text.lower()) for text in (*self._human, *self._other))
        wanted = sorted({*(t.lower() for t in terms.strong), *terms.weak}, key=lambda t: (-len(t), t))
        chosen = wanted[: (len(wanted) + 1) // 2]
        needles = dict.fromkeys(
            other
            for term in chosen
            for other in (term, *alternatives(stem(term) if term.isascii() else term), *_of_chars(term))
        )
        given = 0
        for text, lowered in self._lowered:
            done: set[int] = set()
            for needle in needles:
                at, hits = lowered.find(needle), 0
                while at >= 0 and hits < _HITS_PER_WORD and given < _LINES_PER_CLAIM:
                    start = max(lowered.rfind("\n", max(0, at - _WINDOW), at) + 1, at - _WINDOW, 0)
                    stop = lowered.find("\n", at, at + _WINDOW)
                    end = stop if stop >= 0 else min(len(text), at + _WINDOW)
                    if start not in done and len(text) == len(lowered):
                        done.add(start)
                        given += 1
                        yield text[start:end]
                    hits += 1
                    at = lowered.find(needle, max(end, at + 1))


_BOUND = re.compile(
    r"不(?:低于|高于|超过|少于|大于|小于|多于|早于|晚于)|\bno (?:more|less|fewer|later|earlier|longer|lower|higher) than\b"
    r"|\bnot? (?:exceed|be (?:less|more|lower|higher|later) than)",
    re.IGNORECASE,
)


def _of_chars(term: str) -> tuple[str, ...]:
    """A Han bigram may stand for a listed one-character word (`删表` → `delete`)."""
    if term.isascii() or len(term) != 2:
        return ()
    return tuple(other for char in term for other in alternatives(char) if other.isascii())


def _in_order(pieces: list[str], text: str) -> bool:
    at = 0
    for piece in pieces:
        found = text.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def _same_sign(claim: str, text: str) -> bool:
    """A line that forbids needs a message that forbids something."""
    return not _NEGATION.search(claim) or bool(_NEGATION.search(text))


def supported(claim: Claim, human_texts: Iterable[str], other_texts: Iterable[str] = ()) -> bool:
    """One claim against the leaves; for many claims of one summary build a `Support` once."""
    return Support(human_texts, other_texts).of(claim)
