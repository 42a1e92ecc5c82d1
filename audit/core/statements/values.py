"""Reduces a clause to the value it names.

Rule: AUDIT-REFINEMENTS §2.5: quoted part, else the fact nearest the cue, else the identifier or number nearest it, else
the trimmed clause. `new` is matched at boundaries and by canon.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from audit.core.facts import extract
from audit.core.statements.sentences import has_han, quoted_spans

MAX_TERM = 60
Kind = Literal["quoted", "fact", "identifier", "number", "words"]

_IDENTIFIER = re.compile(
    r"(?<![A-Za-z0-9_.@/-])(?:--?)?[A-Za-z][A-Za-z0-9]*(?:[._:/@+#-]+[A-Za-z0-9]+)*[+#]{0,2}(?![A-Za-z0-9_])"
    r"|(?<![A-Za-z0-9_])_+[A-Za-z0-9]+(?:_+[A-Za-z0-9]+)*"
)
IDENT_SHAPE = re.compile(
    r"[0-9_@/+#]|^--?[a-z]|[a-z][A-Z]|[A-Za-z]\.[A-Za-z]|^[A-Z]{2,}s?$|\w::?\w|\w-\w+-\w|[a-z]-[0-9]"
)
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:[.,:]\d+)*(?:[eE][-+]?\d+)?%?(?![A-Za-z0-9_])", re.ASCII)
_LEAD_ZH = re.compile(
    r"^(?:请|就|都|也|还|又|再|那|那就|应该|应当|改|换|用|使用|采用|成|为|到|是|的|把|将|个|一个|这个|那个|这里|那里|这|那|它|用的|按|叫|叫做|写|写成|设|设成|设为|走)+"
)
_TAIL_ZH = re.compile(
    r"(?:吧|啊|呀|哈|呢|嘛|哦|了|的|就行|就好|就可以|即可|才对|来着|好了|好不好|谢谢|那边|这边|试试|一下|作为默认|比较好|更好|了吧|这个|这种|那种|那个)+$"
)
_STOP_ZH = re.compile(r"[，,；;：:。！？!?（(]|因为|否则|不然|这样|以便|然后|并且|而且|同时|，?别|之后|以后再")
_LEAD_EN = re.compile(
    r"^(?:please|use|using|with|to|the|an?|be|is|it|it's|its|that|this|set|by|our|my|your|just|only|"
    r"always|instead|rather|called|named|go with|"
    r"something like|in|on|for|at|as|of|and|but|want|wanted|any|ever|again|we|you|should|them|have|"
    r"made|make|do|write)\s+",
    re.IGNORECASE,
)
_STOP_EN = re.compile(
    r"[,;。，；：!?(]|:(?=\s)|\.(?=\s|$)|\s[-–—]+\s|\s(?:for|in|on|when|because|since|so|and|but|to|as|"
    r"from|here|there|everywhere|please|again|anymore|"
    r"any\s?more|at|with|if|unless|until|where|while|which|that|like|now|today|next|instead|any|by|of|"
    r"or|during|then|inside|right|ever|"
    r"is|are|was|were|will|would|should|has|have|had|does|did)(?=\s|$)",
    re.IGNORECASE,
)
_HEAD_EN = re.compile(
    r".*\b(?:use|using|with|to|in|on|as|by|for|is|are|be|want|wanted|meant|mean|said|say|need|prefer|"
    r"via|through|write|into|set|do|have|it|run|from|called|pick|choose|"
    r"install|and|but|so|please|should|return|returns|call|add|make|try)\s+",
    re.IGNORECASE,
)
_TRIM = " \t\r\n\u3000'\"`“”‘’「」『』《》*_.,;:，。；：、!?！？()（）[]【】"
_PRONOUN = frozenset(
    [
        "it",
        "this",
        "that",
        "these",
        "those",
        "them",
        "they",
        "he",
        "she",
        "you",
        "we",
        "i",
        "me",
        "one",
        "ones",
        "anything",
        "something",
        "everything",
        "nothing",
        "all",
        "there",
        "here",
        "such",
        "so",
        "any",
        "more",
        "than",
        "another",
        "same",
    ]
)


@dataclass(frozen=True, slots=True)
class Value:
    """What a clause comes down to. `rest` is True when more than stop words stood beside the value, on the cue's side."""

    text: str
    kind: Kind
    rest: bool = False
    cls: str = ""


def reduce_term(clause: str, *, last: bool) -> Value | None:
    """The value of a clause; `last` when the cue stands behind it (nearest = last), else the first one is nearest.

    None when nothing usable is left (pronouns, more than 60 code points, a single code point that is no digit).
    """
    quotes = [(a, b) for a, b in quoted_spans(clause) if clause[a + 1 : b - 1].strip()]
    if quotes:
        a, b = quotes[-1 if last else 0]
        return _value(clause[a + 1 : b - 1].strip(), "quoted", _beside(clause, a, b, last=last))
    found = extract(clause)
    spans: list[tuple[int, int, Kind, str]] = [(f.start, f.end, "fact", f.cls) for f in found]
    spans += [
        (m.start(), m.end(), "identifier", "") for m in _IDENTIFIER.finditer(clause) if _is_ident(m.group(), clause)
    ]
    spans += [(m.start(), m.end(), "number", "") for m in _NUMBER.finditer(clause)]
    # A fact swallows the identifiers and numbers that overlap it; of the rest the one nearest the cue counts.
    facts = [(s, e) for s, e, kind, _ in spans if kind == "fact"]
    free = [v for v in spans if v[2] == "fact" or not any(v[0] < e and s < v[1] for s, e in facts)]
    if free:
        a, b, kind, cls = max(free, key=lambda v: (v[1], -v[0])) if last else min(free, key=lambda v: (v[0], -v[1]))
        return _value(
            clause[a:b].strip(_TRIM.replace(".", "").replace("_", "")), kind, _beside(clause, a, b, last=last), cls
        )
    return _words(clause, last=last)


def _is_ident(word: str, clause: str) -> bool:
    return bool(IDENT_SHAPE.search(word)) or (has_han(clause) and len(word) > 1)


def _beside(clause: str, start: int, end: int, *, last: bool) -> bool:
    """Whether words stand between the value and the cue, so that the value is not what the cue speaks of."""
    between = clause[end:] if last else clause[:start]
    between = _LEAD_ZH.sub("", between.strip(_TRIM))
    between = re.sub(r"^(?:这个|那个|的|都|也|全部|全都|统一|直接|先|值)+$", "", between)
    while True:
        cut = _LEAD_EN.sub("", between + " ").strip()
        if cut == between:
            break
        between = cut
    return bool(between.strip(_TRIM))


def _words(clause: str, *, last: bool) -> Value | None:
    if has_han(clause):
        text = clause
        if not last:
            stop = _STOP_ZH.search(text, 1)
            text = text[: stop.start()] if stop else text
        text = _TAIL_ZH.sub("", _LEAD_ZH.sub("", text.strip(_TRIM))).strip(_TRIM)
        return _value(text, "words", rest=False)
    text = clause.strip()
    if last:
        text = _HEAD_EN.sub("", " " + text)
    else:
        stop = _STOP_EN.search(text)
        text = text[: stop.start()] if stop else text
    while True:
        cut = _LEAD_EN.sub("", text.strip(_TRIM) + " ").strip(_TRIM)
        if cut == text:
            break
        text = cut
    if text.lower() in _PRONOUN or text.split(" ")[0].lower() in _PRONOUN:
        return None
    return _value(text, "words", rest=False)


def _value(text: str, kind: Kind, rest: bool, cls: str = "") -> Value | None:  # noqa: FBT001
    text = " ".join(text.split())
    short = len(text) < 2 and not text.isdigit()
    return None if short or len(text) > MAX_TERM else Value(text, kind, rest, cls)


def family(value: Value) -> str:
    """Coarse kind of a value; a correction replaces a value by one of its own family."""
    if value.kind == "number" or value.cls in ("number_unit", "port", "datetime", "version"):
        return "number"
    if value.cls in ("abs_path", "file_path"):
        return "path"
    if value.kind == "fact":
        return value.cls
    return "name" if value.kind == "identifier" else value.kind
