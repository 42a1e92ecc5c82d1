"""Which lines of a tool result *state* something, so that its facts may count as key. Rule: AUDIT-REFINEMENTS §2.6.

A stated line is one of a short block, a bullet, or `label: value`. Listings, log lines, tables of look-alikes, tool
framing and progress bars are not. One pass, plain character tests before any regex; every pattern is linear.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

SHORT_BLOCK = 6
LINE_MAX = 400
LOOKALIKES = 3
LISTING = 2000
FACT_ONLY_LINES = 4
FACTS_PER_CLASS = 20
# Classes that a line of source code does not state.
NOT_FROM_CODE = frozenset({"number_unit", "port", "ticket", "version", "identifier"})

_NUMBERED = re.compile(r"[ \t]{0,12}\d{1,7}(?::|→|\t)[ \t]?")
_BULLET = re.compile(r"[ \t]{0,40}(?:[-*•+·][ \t]|\d{1,3}[.)、][ \t]?(?=\D))")
_BULLET_LINE = re.compile(r"(?:[ \t]{0,12}\d{1,7}(?::|→|\t)[ \t]?)?[ \t]{0,40}(?:[+·]|\d{1,3}[.)、])")
_LABEL = re.compile(
    r"[ \t]{0,40}[\"'`*_]{0,3}[^\W\d][\w .()%-]{0,48}[\"'`*_]{0,3}[ \t]{0,8}"
    r"(?:(?<!\d):|:(?!\d)|[：=])(?!//|[:=\\])[ \t]{0,8}\S"
)
_INNER_LABEL = re.compile(r"[\"'][^\W\d][\w .-]{0,48}[\"'][ \t]?:")
_FRAME = re.compile(r"at [^\s(]{1,200} ?\([^()]{1,200}:\d{1,7}\)$|File \"[^\"]{1,300}\", line \d")
# A hit of grep or a compiler: `src/x.go:41: text`; such lines list places, they state nothing.
_SEARCH_HIT = re.compile(r"[^\s:]{1,200}\.[A-Za-z]\w{0,9}[:(-]\d{1,7}(?:[:,-]\d{1,7})?[:)-]")
_SKELETON = re.compile(r"\b[0-9A-Fa-f]+\b|\d+")
_LISTED_PATH = re.compile(r"(?<![\w.@~-])[\w.@~-]{0,80}(?:/[\w.@~+-]{1,80})+/?")
_PREFIX_DIGITS = re.compile(r"\d+")
_FRAMING = {"(": ")", "[": "]", "<": ">"}
_CODE = re.compile(
    r"^\s*(?:def |class |import |from \w|return\b|raise |if |elif |else\b|for |while |with |try\b|except\b|async "
    r"|await |const |let |var |function\b|func |fn |pub |private |public |static |export |package |#include|@\w|//|/\*"
    r"|self\.|type \w|struct )"
    r"|[;{]\s*$|=>|->\s*\w|\w\(\w[^()]{0,80}=|\)\s*[:{]\s*$|^\s*\w[\w.]{0,60}\([^)]{0,200}\)[;,]?\s*$"
)
_PROGRESS = re.compile(r"[█▉▊▋▌▍▎▏░▒▓━─]{3}|[=#]{4,}>?\s*\]|\d{1,3}%\|| ETA[ :]|\r")
_WORDY = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class StatedLine:
    """One stated line: its offset in the block (code points), its text, and whether it looks like source code."""

    start: int
    text: str
    code: bool


def stated_lines(text: str) -> list[StatedLine]:
    """Stated lines of one tool result, in order. Look-alike lines and listings are already left out."""
    lines = text.split("\n")
    short = _is_short(lines)
    candidates: list[tuple[int, str]] = []
    start = 0
    for line in lines:
        if 2 < len(line) <= LINE_MAX and (short or (_may_state(line) and _states(line))) and not _is_framing(line):
            candidates.append((start, line))
            if len(candidates) > LISTING:
                return []  # a dump; whatever it holds, it holds more than 20 of
        start += len(line) + 1
    if len(candidates) < LOOKALIKES:
        return [StatedLine(at, line, _CODE.search(line) is not None) for at, line in candidates]
    prefixes = Counter(prefix for _, line in candidates if (prefix := _prefix(line)))
    candidates = [one for one in candidates if prefixes[_prefix(one[1])] < LOOKALIKES]
    skeletons = [_skeleton(line) for _, line in candidates]
    often = {shape for shape, n in Counter(skeletons).items() if n >= LOOKALIKES}
    return [
        StatedLine(at, line, _CODE.search(line) is not None)
        for (at, line), shape in zip(candidates, skeletons, strict=True)
        if shape not in often
    ]


def _skeleton(line: str) -> str:
    """The line without its numbers, and without the paths it lists (`PASS test/a.spec.ts`) when it labels none."""
    body = line.strip()
    if "/" in body and ":" not in body and "=" not in body:
        body = _LISTED_PATH.sub("/", body)
    return _SKELETON.sub("0", body)


def _prefix(line: str) -> str:
    """What stands before the first colon, digits folded, when it holds a digit: log lines share it, labels do not."""
    head, colon, _ = line.partition(":")
    words = head.split()
    if not colon or not words or len(head) > 60 or not any(char.isdigit() for char in head):
        return ""
    # `I (312) boot` and `I (435) wifi`: the severity and the stamp say enough
    return _PREFIX_DIGITS.sub("0", " ".join(words[:2]))


def _is_short(lines: list[str]) -> bool:
    if len(lines) > 40:
        return False
    return sum(1 for line in lines if line and not line.isspace()) <= SHORT_BLOCK


def _may_state(line: str) -> bool:
    """Cheap and never wrong in the negative: most lines of tool output go here."""
    colons = line.count(":")
    if colons > 1 or "=" in line or "：" in line or "- " in line or "* " in line or "• " in line:
        return True
    first = line.lstrip()[:1]
    if colons and (not first.isdigit() or "→" in line or "\t" in line):
        return True
    return ("+ " in line or "·" in line or ". " in line or ") " in line or "、" in line) and _BULLET_LINE.match(
        line
    ) is not None


def _states(line: str) -> bool:
    body = line
    if line[0].isdigit() or line[0] in " \t":
        numbered = _NUMBERED.match(line)
        if numbered:
            body = line[numbered.end() :]
    if ":" in body or "=" in body or "：" in body:
        return (
            _LABEL.match(body) is not None or _BULLET.match(body) is not None or _INNER_LABEL.search(body) is not None
        )
    return _BULLET.match(body) is not None


def _is_framing(line: str) -> bool:
    body = line.strip()
    if not body or _SEARCH_HIT.match(body) is not None or _FRAME.match(body) is not None:
        return True
    closing = _FRAMING.get(body[0])
    if closing is not None and body[-1] == closing:
        return True
    return _PROGRESS.search(line) is not None


def only_facts(line: str, spans: list[tuple[int, int]]) -> bool:
    """Whether nothing but facts (spans in the line) and punctuation stands in a line."""
    rest, at = [], 0
    for start, end in spans:
        rest.append(line[at:start])
        at = max(at, end)
    rest.append(line[at:])
    return _WORDY.search("".join(rest)) is None
