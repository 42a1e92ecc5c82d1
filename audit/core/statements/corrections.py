"""Corrections in one human message: `old→new`, either side may be `∅`.

Rule: COMPACTION-AUDIT §4 (user_correction), its pattern list replaced by AUDIT-REFINEMENTS §2.5. The patterns find cues
(`correction_patterns`); this module reduces both sides to values and says what may not be a correction: questions, quoted
speech, code and logs, reports of what a program does, rules (`不要改成 3 次`), guesses (`应该是网络问题`).
"""

from __future__ import annotations

from collections.abc import Iterator

from audit.core.statements.correction_patterns import CUE, PATTERNS, UNSCORED, Found
from audit.core.statements.model import MAX_CUES, MAX_CUES_PER_SENTENCE, MAX_STATEMENTS, NONE, Correction
from audit.core.statements.sentences import Sentence, inside, quoted_spans, sentences


def corrections(text: str) -> list[Correction]:
    """Corrections of ONE human message text, sorted by start; at most MAX_STATEMENTS of them."""
    found: list[Correction] = []
    seen = list(sentences(text)) if CUE.search(text) else []
    spent = 0
    for at, sentence in enumerate(seen):
        cues = len(CUE.findall(sentence.text))
        spent += min(cues, MAX_CUES_PER_SENTENCE)
        if spent > MAX_CUES:
            break
        if not cues or cues > MAX_CUES_PER_SENTENCE:
            continue
        following = seen[at + 1].text if at + 1 < len(seen) else ""
        found.extend(_of_sentence(text, sentence, following))
        if len(found) >= MAX_STATEMENTS:
            return found[:MAX_STATEMENTS]
    return found


def _of_sentence(text: str, sentence: Sentence, following: str) -> list[Correction]:
    if sentence.asks and not sentence.requests:
        return []
    quotes = quoted_spans(sentence.text)
    taken: list[tuple[int, int]] = []
    result: list[Correction] = []
    for pattern in PATTERNS:
        for hit in _hits(pattern(sentence.text, following), quotes):
            if any(hit.start < end and start < hit.end for start, end in taken):
                continue
            taken.append((hit.start, hit.end))
            result.append(_correction(text, sentence.start, hit))
    if not result:
        cue = UNSCORED.search(sentence.text)
        if cue and not inside(cue.start(), quotes):
            result.append(_correction(text, sentence.start, Found(0, len(sentence.text), cue.start(), None, None)))
    return sorted(result, key=lambda c: (c.start, c.end))


def _hits(found: Iterator[Found], quotes: list[tuple[int, int]]) -> Iterator[Found]:
    for hit in found:
        if not inside(hit.cue, quotes):
            yield hit


def _correction(text: str, base: int, hit: Found) -> Correction:
    start, end = base + hit.start, base + hit.end
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Correction(
        old=hit.old,
        new=hit.new,
        canon=f"{hit.old or NONE}→{hit.new or NONE}",
        text=text[start:end],
        start=start,
        end=end,
        scored=hit.old is not None or hit.new is not None,
        attribute=hit.attribute,
    )
