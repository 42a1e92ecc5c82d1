"""Rules in one human message: the clause around a prohibition or requirement. Rule: AUDIT-REFINEMENTS §2.5 (user_rule).

A clause that a scored correction already covers (`别用 A，改用 B`) is not listed again as a rule.
"""

from __future__ import annotations

import re

import re2

from audit.core.statements.clauses import clause_end
from audit.core.statements.corrections import corrections
from audit.core.statements.model import MAX_CUES, MAX_CUES_PER_SENTENCE, MAX_STATEMENTS, Rule
from audit.core.statements.rule_cues import find_cue, reports
from audit.core.statements.sentences import Sentence, asks_within, has_han, inside, quoted_spans, sentences
from audit.core.statements.terms import Terms, terms_of

_CUE = (
    r"不要|不得|不能|不可|不许|不准|禁止|严禁|勿|别|必须|务必|只|不应|不该|保持|维持|都要|都得|都需要|一律|一定要|千万要|等|由我|我再|我来|"
    r"\b(?:must|mustn['’]?t|never|not|don['’]?t|dont|avoid|stop|refrain|keep|leave|no|always|only|"
    r"remember|shouldn['’]?t|didn['’]?t|doesn['’]?t|under no|"
    r"(?:has|have|needs?) to|i(?:['’]ll| will| want to) (?:first )?(?:decide|confirm|approve|choose|sign)|"
    r"exclude|tell nobody|tell no one|let me|ask|check with|talk to|wait for my|at most|no more than)\b"
)
# re2 for speed only: no look-around, linear by construction.
CUE = re2.compile("(?i)" + _CUE)
_AND_ALSO = re.compile(
    r"[ \t](?:and|but)[ \t](?=(?:please[ \t])?(?:do not|don['’]?t|never|avoid|always|must not)\b)", re.IGNORECASE
)
_LEAD = re.compile(
    r"^(?:[-*•\s]|\d+[.)、]\s*|(?:and|but|also|so|then|ok|okay|please)\b[, ]*|(?:另外|并且|而且|同时|还有|然后|但是|"
    r"但|不过|所以|注意|记住|好的)[:：,，]?)+",
    re.IGNORECASE,
)
# What a summary has to speak of when the user kept a decision: that it is open.
_DECISION = {False: Terms((), ("decid", "approv")), True: Terms((), ("决定", "确认"))}


def rules(text: str) -> list[Rule]:
    """Rules of ONE human message text, sorted by start; at most MAX_STATEMENTS of them."""
    if not CUE.search(text):
        return []
    found: list[Rule] = []
    pairs = [(c.start, c.end) for c in corrections(text) if c.scored]
    spent = 0
    for sentence in sentences(text):
        cues = len(CUE.findall(sentence.text))
        spent += min(cues, MAX_CUES_PER_SENTENCE)
        if spent > MAX_CUES:
            break
        if not cues or cues > MAX_CUES_PER_SENTENCE or sentence.asks:
            continue
        for rule in _of_sentence(sentence, pairs):
            found.append(rule)
            if len(found) >= MAX_STATEMENTS:
                return found
    return found


def _of_sentence(sentence: Sentence, pairs: list[tuple[int, int]]) -> list[Rule]:
    found: list[Rule] = []
    quotes: list[tuple[int, int]] | None = None
    before = ""
    for start, end in _clauses(sentence.text):
        introduced = sentence.text[max(0, start - 2) : start].rstrip().endswith((":", "：")) and reports(before)
        clause = before = sentence.text[start:end]
        if introduced:
            continue
        if not CUE.search(clause):
            continue
        cue = find_cue(clause)
        if cue is None or asks_within(clause[: cue.start]):
            continue
        quotes = quoted_spans(sentence.text) if quotes is None else quotes
        if inside(start + cue.start, quotes):
            continue
        lead = _LEAD.match(clause)
        skip = lead.end() if lead and lead.end() <= cue.start and not cue.reserves else 0
        a, b = sentence.start + start + skip, sentence.start + end
        if any(a < y and x < b for x, y in pairs):
            continue
        terms = (
            _DECISION[has_han(clause)] if cue.reserves else terms_of(clause[skip:], (cue.start - skip, cue.end - skip))
        )
        if terms:
            found.append(
                Rule(clause[skip:].rstrip(), a, a + len(clause[skip:].rstrip()), cue.polarity, terms.strong, terms.weak)
            )
    return found


def _clauses(text: str) -> list[tuple[int, int]]:
    """Clauses of a sentence, in order, without overlap."""
    spans = []
    at = 0
    while at < len(text):
        if text[at].isspace() or text[at] in "，,；;：:（）()":
            at += 1
            continue
        end = max(clause_end(text, at), at + 1)
        start = at
        for joint in _AND_ALSO.finditer(text, at, end):  # `never X and do not Y` are two demands
            spans.append((start, joint.start()))
            start = joint.end()
        spans.append((start, end))
        at = end
    return spans
