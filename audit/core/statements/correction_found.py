"""One hit of a correction pattern, and how the two sides of a cue become old value, new value or attribute."""

from __future__ import annotations

from dataclasses import dataclass

from audit.core.statements.values import Value, family


@dataclass(frozen=True, slots=True)
class Found:
    """Positions in the sentence: `start`/`end` of the clauses, `cue` of the word that makes it a correction."""

    start: int
    end: int
    cue: int
    old: str | None
    new: str | None
    attribute: str | None = None


def is_literal(value: Value | None) -> bool:
    """True for a value that can be looked up as it stands: quoted, fact, identifier or number."""
    return value is not None and value.kind != "words"


def pair(start: int, end: int, cue: int, left: Value | None, left_text: str, new: Value) -> Found:
    """`A → B` where A may be the old value or only the name of what gets the new one (`批大小改成 500 行`).

    A is the old value when it is of B's kind and nothing else stands between it and the cue; else it is the attribute.
    """
    if left is not None and not left.rest and _exchangeable(left, new) and left.text.casefold() != new.text.casefold():
        return Found(start, end, cue, left.text, new.text)
    name = " ".join(left_text.split())
    return Found(start, end, cue, None, new.text, name or None)


def _exchangeable(old: Value, new: Value) -> bool:
    if family(old) == family(new):
        return old.kind != "words"
    return old.kind != "words" and "quoted" in (old.kind, new.kind) and "number" not in (family(old), family(new))
