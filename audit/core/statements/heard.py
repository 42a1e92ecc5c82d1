"""Whether humans said, wanted or approved of what a summary tells in its own words. Rule: AUDIT-REFINEMENTS §2.5; FR-008.

Only human leaves count, and what the assistant had proposed just before a human approved of it. Answers: True, False, or
None = cannot be judged (another language, or nothing to compare).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import islice

from audit.core.statements.consent import approves, clauses_of
from audit.core.statements.content import Words
from audit.core.statements.endorsed import agreed, asked_for, names_of
from audit.core.statements.lexicon import stem
from audit.core.statements.model import Claim
from audit.core.statements.prose import Script, script_of, scripts_of_all
from audit.core.statements.rule_cues import find_cue
from audit.core.statements.sentences import sentences
from audit.core.statements.terms import Line, Terms, terms_of
from audit.core.statements.told import content_of

LOW_SHARE = 0.3
"""A claim whose content is held to a lower share than this is a candidate."""
SAME_SHARE = 0.6
CLEAR_TERMS = 3
PROPOSAL = 4000

_NEGATED = re.compile(
    r"不|别|勿|禁|没|未|无需|\b(?:not|no|never|don['’]?t|dont|without|stop|avoid|nothing|untouched|unchanged)\b", re.I
)
_ALREADY = re.compile(
    r"(?:the )?user(?: has| have| had)?(?: already| explicitly)*|用户(?:已经|已|明确)*|confirm\w*|approv\w*|"
    r"agree\w*|accept\w*|authori[sz]\w*|granted|permission|go-?ahead|consent\w*|\bok(?:ay\w*)?\b|signed off|sign-?off|"
    r"\b(?:gave|given|his|her|their|explicit|final|green light)\b|同意|确认|批准|授权|认可|许可|允许",
    re.IGNORECASE,
)
_PUT_OFF = re.compile(
    r"\bi(?:['’]ll| will| want to| need to| have to| must)(?: first)? (?:decide|confirm|approve|think|check|talk)\b|"
    r"\blet me (?:think|decide|check|confirm)\b|\bwait for (?:me|my)\b|\b(?:show|send|give|tell) me\b[^.;!?]{0,60}\bfirst\b|"
    r"\buntil i\b|\bbefore i\b|等我|我再|我来定|我想想|先给我|先让我|考虑一下|再说",
    re.IGNORECASE,
)
# What a summary calls the thing approved of when it does not name it.
_ANYTHING_WORDS = """
plan approach proposal change design solution fix suggestion step work result idea option draft this
方案 计划 做法 建议 修改 改动 设计 结果 思路 操作 执行 继续 上述 该方 此方 下一 一步
"""
_ANYTHING = frozenset(stem(word) for word in _ANYTHING_WORDS.split())
MAX_SENTENCES = 500
"""Sentences of all messages looked at for a prohibition, and clauses for an order: the first ones."""


class Heard:
    """The human messages of one compaction in order; `before[i]` is what the assistant said just before message i."""

    def __init__(self, human_texts: Sequence[str], before: Sequence[str] = ()) -> None:
        self._human = tuple(human_texts)
        self._before = tuple(text[-PROPOSAL:] for text in before)
        self._endorsed: dict[tuple[str, ...], bool | None] = {}

    @cached_property
    def _approving(self) -> tuple[int, ...]:
        return tuple(at for at, text in enumerate(self._human) if approves(text))

    @cached_property
    def _words(self) -> Words:
        adopted = [self._before[at] for at in self._approving if at < len(self._before)]
        return Words((*self._human, *adopted))

    @cached_property
    def _agreed_on(self) -> Words:
        """The last two exchanges up to each approving message."""
        at = sorted({near for at in self._approving for near in (at - 1, at) if near >= 0})
        return Words(text for near in at for text in (self._human[near], *self._before[near : near + 1]))

    @cached_property
    def _written_in(self) -> frozenset[Script]:
        return scripts_of_all(self._human)

    @cached_property
    def _sentences(self) -> tuple[tuple[Words, bool], ...]:
        """What each sentence says and whether it forbids something."""
        every = (sentence.text for text in self._human for sentence in sentences(text))
        return tuple((Words((text,)), _forbids(text)) for text in islice(every, MAX_SENTENCES))

    @cached_property
    def _orders(self) -> tuple[Line, ...]:
        every = (clause.text for text in self._human for clause in clauses_of(text) if clause.plain)
        return tuple(Line(text) for text in islice(every, MAX_SENTENCES))

    def told(self, claim: Claim) -> bool | None:
        """Indirect speech: False when its content is clearly not, or only as a prohibition, in the messages."""
        content = content_of(claim.text)
        terms = terms_of(content)
        if not terms or self._words.cut:
            return None
        if self._written_in != {script_of(content)}:
            # Another language: names alone say that none of it was said, never that it was.
            return None if len(terms.strong) < CLEAR_TERMS or any(map(self._words.strong, terms.strong)) else False
        if 2 * len(terms.strong) + len(terms.weak) < CLEAR_TERMS:
            return None
        if self._words.share(terms) < LOW_SHARE:
            return False
        return not self._forbidden(content, terms)

    def _forbidden(self, content: str, terms: Terms) -> bool:
        """Every sentence that holds most of an unnegated claim forbids it (`不要重置 offset` → `要求重置 offset`)."""
        if _NEGATED.search(content):
            return False
        if not any(forbids and words.share(terms) >= SAME_SHARE for words, forbids in self._sentences):
            return False
        return not any(words.share(terms) >= SAME_SHARE for words, forbids in self._sentences if not forbids)

    def consented(self, claim: Claim) -> bool | None:
        """The user's consent: an approving message about it, or an order to do it that nobody put off later."""
        about = _ALREADY.sub(" ", claim.text)
        terms = terms_of(about)
        terms = Terms(terms.strong, tuple(term for term in terms.weak if term not in _ANYTHING))
        if self._approving:
            known = bool(self._before) and not self._agreed_on.cut and self._written_in == {script_of(about)}
            if not known or not terms or self._agreed_on.share(terms) > 0:
                return True
        return self._ordered(terms)

    def _ordered(self, terms: Terms) -> bool:
        if not terms or any(_PUT_OFF.search(text) for text in self._human[-2:]):
            return False
        return any(covers(terms, row, SAME_SHARE) for row in self._orders)

    def endorsed(self, claim: Claim, other_texts: Iterable[str]) -> bool | None:
        """Someone else's consent; None when no human spoke of that person as having a say. `other_texts`: the same always."""
        names = names_of(claim.text)
        if names not in self._endorsed:
            name = asked_for(names, self._human)
            self._endorsed[names] = None if name is None else agreed(name, (*self._human, *other_texts))
        return self._endorsed[names]


def _forbids(sentence: str) -> bool:
    cue = find_cue(sentence)
    return cue is not None and cue.polarity == "negative"


def covers(terms: Terms, row: Line, share: float) -> bool:
    """Whether a text holds this share of the terms."""
    count = len(terms.strong) + len(terms.weak)
    return bool(count) and row.share(terms.strong, strong=True) + row.share(terms.weak, strong=False) >= share * count
