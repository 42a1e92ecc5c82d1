"""Cuts a message into sentences and clauses, and tells prose from pasted code, logs and quotations.

Rule: COMPACTION-AUDIT §4 as mended by AUDIT-REFINEMENTS §2.5 (sentences end at `。！？!?`, line ends and `.` + white
space). Every pattern here runs over one line or one sentence of bounded length, so a text costs linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from audit.core.statements.model import MAX_TEXT

MAX_SENTENCE = 400
"""A longer run without a sentence end is pasted text; it is looked at in pieces of this length."""

_FENCE = re.compile(r"[ \t]{0,8}(?:```|~~~)")
_END = re.compile(
    r"[。！？]|[!?](?=[\s\"'”’」』)）\u3400-\u9fff]|$)|(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\betc)\.(?=\s|$)"
)
_CODE_START = re.compile(
    r"[ \t]*(?:>|//|/\*|\*/|#!|<!--|\$ |PS |C:\\>|>>> |\.\.\. |[+-]{3} |@@ |diff --git|import \w|"
    r"from [\w.]+ import|def \w|class \w+"
    r"[(:]|return\b.{0,80};|const |let \w+ ?=|var \w+ ?=|function\b.{0,40}\(|public |private |static |"
    r"at [\w.$<>]+\(|File \"|Traceback |npm (?:ERR!|WARN)|(?:error|fatal|warning|panic)(?:\[\w+\])?: |"
    r"[\w.]{0,60}(?:Error|Exception|Warning)\b ?[:(]|E {2,}|"
    r"\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b[\]:|]?\s|"
    r"\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d\b|\[\w{3,9}\] )"
)
_CODE_END = re.compile(r"(?:[;{}]|\)\s*:|=>|\\)\s*$")
_HAN = re.compile(r"[\u3400-\u9fff]")
_PAIRS = {"“": "”", "「": "」", "『": "』", "‘": "’", "《": "》", "`": "`", '"': '"', "'": "'"}
_ZH_PARTICLE = re.compile(r"(?:吗|嘛|呢|(?<![什那怎这多要])么)[？?]?\s*$")
_ZH_ASK = re.compile(
    r"是否|是不是|要不要|为什么|为啥|为何|(?<!不管)(?<!无论)怎么(?!样都)|如何|哪(?:个|些|里|种)|(?<!没)什么|多少|有没有|"
    r"会不会|需不需要|该不该"
)
_EN_ASK = re.compile(
    r"^\W*(?:so |and |but |also |ok(?:ay)?,? |hmm,? )?(?:why|what|when|where|which|who|how|is|are|was|"
    r"were|does|do (?:i|we|you|they)|did|"
    r"should|shouldn't|must|can|could|would|will|has|have|isn't|aren't|don't (?:i|we|you|they))\b",
    re.IGNORECASE,
)
_EN_REQUEST = re.compile(r"^\W*(?:can|could|would|will) (?:you|we)\b|\bplease\b", re.IGNORECASE)
_ZH_REQUEST = re.compile(r"能不能|可不可以|能否|可否|可以|麻烦|帮我|帮忙|请")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: `text` without its end mark, `start` in the whole text, `mark` the end mark ("" at a line end)."""

    text: str
    start: int
    mark: str

    @property
    def asks(self) -> bool:
        """A question by its mark, its final particle or its first English word; polite requests included."""
        if self.mark in ("?", "？") or _EN_ASK.match(self.text):
            return True
        return bool(_ZH_PARTICLE.search(self.text[-4:]))

    @property
    def requests(self) -> bool:
        """A question in form that asks for something to be done: `can you …?`, `能不能把…`."""
        return bool(_EN_REQUEST.search(self.text) or _ZH_REQUEST.search(self.text))


def asks_within(clause: str) -> bool:
    """A Chinese question word stands in this clause (`是否`, `怎么`, `要不要`, …)."""
    return bool(_ZH_ASK.search(clause))


def prose_lines(text: str) -> Iterator[tuple[int, str]]:
    """(offset, line) of the lines a person typed: fenced code, quoted lines, code and log lines are left out."""
    fenced = False
    at = 0
    for line in text[:MAX_TEXT].splitlines(keepends=True):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and line.strip() and not _is_code(line):
            yield at, line.rstrip("\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029")
        at += len(line)


def _is_code(line: str) -> bool:
    if _CODE_START.match(line):
        return True
    # Code ends in punctuation that prose with Han never ends in; a tab inside a line is a table or a log.
    tail = line.rstrip()[-40:]
    return bool(_CODE_END.search(tail)) and not _HAN.search(line[:MAX_SENTENCE])


def sentences(text: str) -> Iterator[Sentence]:
    """Sentences of the prose of a text, in order."""
    for offset, line in prose_lines(text):
        at = 0
        for end in _END.finditer(line):
            yield from _pieces(line[at : end.start()], offset + at, end.group())
            at = end.end()
        yield from _pieces(line[at:], offset + at, "")


def _pieces(text: str, start: int, mark: str) -> Iterator[Sentence]:
    for at in range(0, len(text), MAX_SENTENCE):
        piece = text[at : at + MAX_SENTENCE]
        if piece.strip():
            yield Sentence(piece, start + at, mark)


def quoted_spans(text: str) -> list[tuple[int, int]]:
    """(start, end) of the quoted parts of a sentence, marks included. An apostrophe inside a word opens nothing."""
    spans: list[tuple[int, int]] = []
    at = 0
    none_left: set[str] = set()  # closing marks known to be absent from here on: keeps the scan linear
    while at < len(text):
        close = _PAIRS.get(text[at])
        opens = close is not None and close not in none_left
        if opens and text[at] in "'‘" and at and text[at - 1].isalnum():
            opens = False
        if opens and close is not None:
            end = _closing(text, at + 1, close)
            if end > at + 1:
                spans.append((at, end + 1))
                at = end
            elif end < 0:
                none_left.add(close)
        at += 1
    return spans


def _closing(text: str, at: int, close: str) -> int:
    end = text.find(close, at)
    while end >= 0 and close in "'’" and end + 1 < len(text) and text[end + 1].isalnum():
        end = text.find(close, end + 1)
    return end


def inside(at: int, spans: list[tuple[int, int]]) -> bool:
    """True when a position lies in one of the spans."""
    return any(start <= at < end for start, end in spans)


def has_han(text: str) -> bool:
    """True when the text holds a Han character."""
    return bool(_HAN.search(text))
