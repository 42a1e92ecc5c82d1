"""English correction patterns. Rule: AUDIT-REFINEMENTS §2.5, in its order."""

from __future__ import annotations

import re
from collections.abc import Iterator

from audit.core.statements.clauses import clause_end, clause_start
from audit.core.statements.correction_found import Found, is_literal, pair
from audit.core.statements.values import Value, family, reduce_term

_I = re.IGNORECASE
_CHANGED = re.compile(
    r"\b(?:change[ds]?|changing|bump(?:ed)?|raised?|lower(?:ed)?|increase|decrease|reduce|update[ds]?|"
    r"switch(?:ed)?|move|upgraded?|downgraded?|"
    r"migrated?|convert(?:ed)?|go|set|extend|shorten|drop|cut|"
    r"edit)\b[^,;]{0,60}?\bfrom\s+(?P<a>[^,;]{1,60}?)\s+(?:to|into|->|→)\s+",
    _I,
)
_CHANGE_TO = re.compile(
    r"\b(?:change|switch|bump|raise|lower|increase|decrease|reduce|update|extend|"
    r"shorten)\s+(?P<a>[^,;]{1,50}?)\s+(?:back\s+)?(?:to|into)\s+",
    _I,
)
_NOT_BUT = re.compile(
    r"\bnot\s+(?!only\b|just\b|sure\b|bad\b|great\b|yet\b|simply\b|merely\b|that\b|to\b(?! use\b)|"
    r"a big\b)(?P<a>[^,;]{1,40}?),?\s+but\s+",
    _I,
)
_COMMA_NOT = re.compile(
    r"(?:,|;|\s\(|\s[-–—]+)\s*(?:and\s+)?not\s+(?!sure\b|yet\b|just\b|only\b|necessarily\b|because\b|"
    r"that\b|if\b|when\b|even\b)",
    _I,
)
_PLAIN_NOT = re.compile(
    r"\b(?:use|is|said|it['’]?s|that['’]?s|be|to|at|want|meant|port|"
    r"version)\s+(?P<b>[^,;\s]{1,40}(?: [a-zA-Z%]{1,10})?)\s+not\s+(?=\S)",
    _I,
)
_INSTEAD = re.compile(r",?\s*\b(?:instead of|rather than|in place of)\s+", _I)
_INSTEAD_FIRST = re.compile(
    r"(?:^|[,;]\s*)(?:so |and |please )?(?:instead of|"
    r"rather than)\s+(?P<a>[^,;]{1,50}),\s*(?:please\s+)?(?:use|go with|do|make it|write|call)\s+",
    _I,
)
_SHOULD_BE = re.compile(
    r"\b(?:should(?:'ve| have)? be(?:en)?|ought to be|needs to be|is supposed to be)\s+(?!able\b|enough\b)", _I
)
_STOP_USING = re.compile(r"\b(?:don['’]?t|do not|stop|quit|no longer|please don['’]?t)\s+us(?:e|ing)\s+", _I)
_THEN_USE = re.compile(
    r"\s*[,;:–—-]*\s*(?:but|and|please|just|instead|rather)?\s*,?\s*\b(?:use|switch to|go with|prefer|try)\s+", _I
)
_NEXT_USE = re.compile(r"\s*(?:please\s+|just\s+|instead,?\s+)?(?:use|switch to|go with)\s+", _I)
_USE_BEFORE = re.compile(r"(?:please\s+|just\s+|always\s+)?(?:use|switch to|go with)\s+", _I)
_AFTER_CUE = re.compile(
    r"^\W*(?:no|nope|actually|wrong|correction|sorry|oops|wait|hmm|my mistake|"
    r"my bad)\b(?:[,.:;!—–-]+\s*|\s+)(?:no,?\s+|wait,?\s+|sorry,?\s+|actually,?\s+)?"
    r"(?:it['’]?s|it is|it should be|that['’]?s|let['’]?s use|please use|use|make it|make that|"
    r"go with|set it to|I meant|i want|"
    r"the (?P<attr>[\w -]{1,40}?) (?:is|=|should be|must be))\s+(?:actually\s+)?",
    _I,
)
_I_MEANT = re.compile(r"\bI meant\s+(?:to (?:say|write|type)\s+)?", _I)
_REPORT = re.compile(
    r"\b(?:returns|returned|returning|shows|showed|showing|prints|printed|got|gets|get|getting|gives|"
    r"gave|throws|threw|outputs|displays|displayed|"
    r"was|were|uses|used|writes|wrote|reads|logs|logged|ended|picks|picked|goes|went|comes|came|"
    r"seeing|see|saw|does|did|keeps|kept|looks|"
    r"it's|treats|starts|sends|sent)\b",
    _I,
)
_ASKS_FOR = re.compile(
    r"\b(?:use|using|want|meant|should|call|name|said|asked|go with|must|make it|set|pick|prefer|need|"
    r"write|run|please|target)\b",
    _I,
)
_PROPER = re.compile(r"[A-Z][A-Za-z]{2,}$")
_NEVER = re.compile(
    r"\b(?:never|don['’]?t|do not|must not|mustn['’]?t|cannot|can['’]?t|shouldn['’]?t|should not|avoid)\b", _I
)


def _short(value: Value, words: int = 3) -> bool:
    return value.kind != "words" or len(value.text.split()) <= words


def _alike(old: Value, new: Value) -> bool:
    proper = _PROPER.match(old.text) and _PROPER.match(new.text)
    return bool(proper) or (
        is_literal(old)
        and is_literal(new)
        and (
            family(old) == family(new)
            or "quoted" in (old.kind, new.kind)
            or ({family(old), family(new)} <= {"name", "path", "ip", "hex_hash", "ticket", "uuid"})
        )
    )


def from_a_to_b(text: str, following: str) -> Iterator[Found]:
    """`change … from A to B`."""
    for m in _CHANGED.finditer(text):
        end = clause_end(text, m.end())
        old, new = reduce_term(m["a"], last=False), reduce_term(text[m.end() : end], last=False)
        start = clause_start(text, m.start())
        if (
            old
            and new
            and (is_literal(new) or (_short(old, 2) and _short(new, 2)))
            and not _NEVER.search(text[start : m.start()])
        ):
            yield Found(start, end, m.start(), old.text, new.text)


def not_a_but_b(text: str, following: str) -> Iterator[Found]:
    """`not A but B`."""
    for m in _NOT_BUT.finditer(text):
        end = clause_end(text, m.end())
        old, new = reduce_term(m["a"], last=False), reduce_term(text[m.end() : end], last=False)
        start = clause_start(text, m.start())
        asked = _ASKS_FOR.search(text[start : m.start()]) or not text[start : m.start()].strip()
        if (
            old
            and new
            and (_alike(old, new) or (asked and _short(old, 2) and _short(new, 2) and len(m["a"].split()) <= 3))
        ):
            yield Found(start, end, m.start(), old.text, new.text)


def b_not_a(text: str, following: str) -> Iterator[Found]:
    """`B, not A` after `is|to|use|meant|…`; also `use 9090 not 8080`."""
    for m in _COMMA_NOT.finditer(text):
        start, end = clause_start(text, m.start()), clause_end(text, m.end())
        left = text[start : m.start()]
        new, old = reduce_term(left, last=True), reduce_term(text[m.end() : end], last=False)
        if (
            new
            and old
            and not _REPORT.search(left)
            and (
                _alike(old, new)
                or (_ASKS_FOR.search(left) and _short(old) and _short(new) and "ing" not in old.text[-3:])
            )
        ):
            yield Found(start, end, m.start(), old.text, new.text)
    for m in _PLAIN_NOT.finditer(text):
        start, end = clause_start(text, m.start()), clause_end(text, m.end())
        new, old = reduce_term(m["b"], last=False), reduce_term(text[m.end() : end], last=False)
        if new and old and _alike(old, new):
            yield Found(start, end, m.start(), old.text, new.text)


def instead_of(text: str, following: str) -> Iterator[Found]:
    """`B instead of|rather than A`, `instead of A, use B`. `it returns 500 instead of 404` is a report, not a demand."""
    for m in _INSTEAD_FIRST.finditer(text):
        end = clause_end(text, m.end())
        old, new = reduce_term(m["a"], last=False), reduce_term(text[m.end() : end], last=False)
        if old and new and _short(old) and _short(new):
            yield Found(m.start(), end, m.start(), old.text, new.text)
    for m in _INSTEAD.finditer(text):
        start, end = clause_start(text, m.start()), clause_end(text, m.end())
        left = text[start : m.start()]
        if not left.strip() or _REPORT.search(left):
            continue
        new, old = reduce_term(left, last=True), reduce_term(text[m.end() : end], last=False)
        if new and old and _short(old) and _short(new) and (is_literal(old) or not old.text.split()[0].endswith("ing")):
            yield Found(start, end, m.start(), old.text, new.text)


def should_be(text: str, following: str) -> Iterator[Found]:
    """`A should be B` with a B that can be looked up (`should be easy` is none)."""
    for m in _SHOULD_BE.finditer(text):
        start, end = clause_start(text, m.start()), clause_end(text, m.end())
        left, right = text[start : m.start()], text[m.end() : end]
        new = reduce_term(right, last=False)
        if new is None or new.rest or not (is_literal(new) or _PROPER.match(new.text)):
            continue
        name = re.sub(
            r"^(?:no,?|and|but|so|also|actually|then|the|a|an|our|i think|think)\s+", "", left.strip(), flags=_I
        )
        name = re.sub(r"^(?:the|a|an)\s+", "", name, flags=_I)
        yield pair(start, end, m.start(), reduce_term(left, last=True) if left.strip() else None, name, new)


def stop_using(text: str, following: str) -> Iterator[Found]:
    """`don't use A(; use B)`; B may open the next sentence. `don't use more than 4 threads` is a rule."""
    for m in _STOP_USING.finditer(text):
        start, end = clause_start(text, m.start()), clause_end(text, m.end())
        phrase = text[m.end() : end]
        before = text[start : m.start()].strip().lower()
        if re.match(r"(?:more|any|less|too|it|that|this|them)\b", phrase, _I) or re.search(
            r"\b(?:i|we|they|you|which|who|that|if)$", before
        ):
            continue
        use = re.search(r"(?:\s[-–—]+|,)?\s+(?:but )?use\s", phrase, _I)
        phrase = phrase[: use.start()] if use else phrase
        old = reduce_term(phrase, last=False)
        if old is None or old.rest or not _short(old):
            continue
        new: Value | None = None
        then = _THEN_USE.match(text, m.end() + len(phrase))
        if then:
            end = clause_end(text, then.end())
            new = reduce_term(text[then.end() : end], last=False)
        elif end >= len(text.rstrip()) and _NEXT_USE.match(following):
            new = reduce_term(following[_NEXT_USE.match(following).end() :][:80], last=False)  # type: ignore[union-attr]
        if new is None and start > 1:
            at = clause_start(text, start - 2)
            used = _USE_BEFORE.match(text[at:start])
            new = reduce_term(text[at + used.end() : start], last=False) if used else None
            start = at if new else start
        if new is not None and not _short(new):
            new = None
        yield Found(start, end, m.start(), old.text, new.text if new else None)


def change_to(text: str, following: str) -> Iterator[Found]:
    """`change A to B` with a B that can be looked up; A is an old value or the name of what changes."""
    for m in _CHANGE_TO.finditer(text):
        end = clause_end(text, m.end())
        start = clause_start(text, m.start())
        new = reduce_term(text[m.end() : end], last=False)
        if new is None or not is_literal(new) or new.rest or _NEVER.search(text[start : m.start()]):
            continue
        name = re.sub(r"^(?:the|a|an|our|my|that|this|it)\b\s*", "", m["a"].strip(), flags=_I)
        yield pair(start, end, m.start(), reduce_term(m["a"], last=True), name, new)


def after_a_cue(text: str, following: str) -> Iterator[Found]:
    """`no, use B`, `actually, it's B`, `correction: the port is B`, `I meant B`."""
    m = _AFTER_CUE.match(text)
    if m:
        end = clause_end(text, m.end())
        new = reduce_term(text[m.end() : end], last=False)
        if new is not None and (is_literal(new) or _PROPER.match(new.text)) and not new.rest:
            yield Found(m.start(), end, m.start(), None, new.text, m["attr"])
    for hit in _I_MEANT.finditer(text):
        end = clause_end(text, hit.end())
        new = reduce_term(text[hit.end() : end], last=False)
        if new is not None and _short(new):
            yield Found(hit.start(), end, hit.start(), None, new.text)


EN_PATTERNS = (from_a_to_b, not_a_but_b, b_not_a, instead_of, stop_using, should_be, change_to, after_a_cue)
