"""Identifiers that no other class holds: `0x40011000`, a DOI, an object-store URI, a constant's name, labelled digits.

Our own addition to the extended classes of AUDIT-REFINEMENTS §2.4 (field report FR-005: ids get lost or swapped): people
name such things by hand, and a summary that swaps two digits in one sends later work to the wrong thing.
"""

from __future__ import annotations

import re

from audit.core.facts.chars import is_han
from audit.core.facts.model import Fact
from audit.core.facts.reach import Reach

_STORE = re.compile(r"(?:s3a?|gs|hdfs|oss|cos|abfss?|obs|minio)://[^\s\"'`<>|,;，。；、（）()\[\]{}\x00]{3,300}")
_HEX = re.compile(r"0[xX][0-9A-Fa-f]{2,16}")
_DOI = re.compile(r"10\.[0-9]{4,9}/[A-Za-z0-9][A-Za-z0-9._/-]{1,80}")
_CONSTANT = re.compile(r"[A-Z][A-Z0-9]{0,40}(?:_[A-Z0-9]{1,40}){1,8}")
# Serial numbers: capitals and digits in turn, at least five runs of them (`ZL2C8QW7`, not `AES256GCM`, `RTX4090TI`).
_SERIAL = re.compile(r"(?<![A-Za-z0-9_.\x00-])[A-Z0-9]{8,20}+(?![A-Za-z0-9_])")
_RUN = re.compile(r"[0-9]+|[A-Z]+")
_SERIAL_RUNS = 5
_CUE_WORDS = (
    "id ids seed pr mr issue ticket case run job build order account invoice serial register registers revision"
    " versioncode appid uid pid submission arxiv"
)
_CUE_HAN = "种子 寄存器 订单 工单"


def _reversed(words: str) -> str:
    return "|".join(word[::-1] for word in words.split())


# A label (`seed: `, `orderId=`, `工单`) before digits, read backwards from them: one try instead of one a place.
_LABEL = re.compile(
    r"[\"'`]?[ \t]?(?:[:=：#]| si|为|是)?[ \t]?[\"'`]?"
    rf"(?:(?i:{_reversed(_CUE_WORDS)})(?![A-Za-z])|(?:dI|DI|edoC|deeS)[a-z]|di_|{_reversed(_CUE_HAN)}|号[\u4e00-\u9fff])"
)
_LABEL_REACH = 24
_DIGITS = re.compile(r"(?<![0-9])[0-9]{3,12}+(?![0-9%_\x00A-Za-z])")
_RANGE = re.compile(r"[ \t]?(?:到|至|~|–|-|to )[ \t]?\Z")
_COMPACT_DATE = re.compile(r"(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])")
_TRAIL = ".,;:!?/"


def stores(text: str, reach: Reach) -> list[Fact]:
    """Object-store URIs of a raw text (other URLs are no facts); canon without a final slash or full stop."""
    facts: list[Fact] = []
    for m in reach.places(_STORE.finditer(text)) if "://" in text else ():
        spelled = m.group().rstrip(".,;:!?")
        canon = spelled.rstrip("/")
        if not _joined(text, m.start() - 1) and len(canon) > 8 and not set(canon) & set("*$"):
            facts.append(Fact("identifier", spelled, canon, m.start(), m.start() + len(spelled)))
    return facts


def identifiers(text: str, reach: Reach) -> list[Fact]:
    """Identifiers of a text in which all earlier classes are masked; canon is lower case but for constants."""
    facts: list[Fact] = []
    if "0x" in text or "0X" in text:
        facts += [_fact(m, m.group().lower()) for m in reach.places(_HEX.finditer(text)) if _free(text, m)]
    if "10." in text:
        for m in reach.places(_DOI.finditer(text)):
            canon = m.group().rstrip(_TRAIL)
            if not _joined(text, m.start() - 1):
                facts.append(Fact("identifier", canon, canon.lower(), m.start(), m.start() + len(canon)))
    if "_" in text:
        facts += [
            _fact(m, m.group()) for m in reach.places(_CONSTANT.finditer(text)) if len(m.group()) > 5 and _free(text, m)
        ]
    facts += _labelled(text, reach)
    facts += [_fact(m, m.group()) for m in reach.places(_SERIAL.finditer(text)) if _is_serial(text, m)]
    facts.sort(key=lambda f: (f.start, -f.end))
    kept: list[Fact] = []
    for fact in facts:
        if not kept or fact.start >= kept[-1].end:
            kept.append(fact)
    return kept


def _labelled(text: str, reach: Reach) -> list[Fact]:
    """Three to twelve digits behind a word that labels ids, and the second number of such a range."""
    facts: list[Fact] = []
    last = -1
    for m in reach.places(_DIGITS.finditer(text)):
        start, end = m.span()
        if _number_goes_on(text, end):
            continue
        if end - start == 8 and _COMPACT_DATE.match(text, start):
            continue
        ranged = last >= 0 and start - last < 8 and _RANGE.fullmatch(text, last, start) is not None
        if ranged or _LABEL.match(text[max(0, start - _LABEL_REACH) : start][::-1]):
            facts.append(Fact("identifier", text[start:end], text[start:end], start, end))
            last = end
    return facts


def _is_serial(text: str, m: re.Match[str]) -> bool:
    return len(_RUN.findall(m.group())) >= _SERIAL_RUNS and _free(text, m)


def _fact(m: re.Match[str], canon: str) -> Fact:
    return Fact("identifier", m.group(), canon, m.start(), m.end())


def _free(text: str, m: re.Match[str]) -> bool:
    """Nothing glued to either side."""
    after = text[m.end() : m.end() + 1]
    return not _joined(text, m.start() - 1) and not (
        after and (after == "_" or (after.isalnum() and not is_han(after)))
    )


def _joined(text: str, at: int) -> bool:
    c = text[at] if at >= 0 else " "
    return c in "_$@./\\-\x00" or (c.isalnum() and not is_han(c))


def _number_goes_on(text: str, end: int) -> bool:
    """The digits are part of a longer number, word, date or measure."""
    rest = text[end : end + 3]
    if rest[:1] in (".", ",", ":", "-", "/") and rest[1:2].isdigit():
        return True
    if rest[:1] in ("%", "\x00", "_") or (rest[:1].isalnum() and not is_han(rest[0])):
        return bool(rest[:1])
    return rest[:1] != "" and rest[0] in "年月天秒分个条次行台元万千亿"
