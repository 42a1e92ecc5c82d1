"""When two facts are one: equality of canons, with the spellings that AUDIT-REFINEMENTS §2.3 makes equal."""

from __future__ import annotations

from audit.core.facts.model import PATH_CLASSES, Fact
from audit.core.facts.units import COUNTED, GENERIC

# `500 行` of a table and `500 rows` are one count in two languages.
_TWINS = {"row": "line", "record": "line", "条": "条"}


def comparable(fact: Fact) -> str:
    """The canon as compared across texts: paths with `/` and without a leading `./`; others as they are."""
    if fact.cls in PATH_CLASSES:
        path = fact.canon.replace("\\", "/")
        while path.startswith("./") and len(path) > 2:
            path = path[2:]
        return path
    return fact.canon


def key(fact: Fact) -> tuple[str, str]:
    """What identifies a fact across texts and counts it once: (class, comparable canon)."""
    return fact.cls, comparable(fact)


def unit_of(fact: Fact) -> str:
    """Unit of a number_unit fact, without its multiplier."""
    return fact.canon.rpartition(" ")[2]


def same(a: Fact, b: Fact) -> bool:
    """One fact in two spellings: equal canon; a generic counter equals any counted noun of the same number."""
    if a.cls != b.cls:
        return False
    if a.cls != "number_unit":
        return comparable(a) == comparable(b)
    if a.canon == b.canon:
        return True
    number, _, unit = a.canon.rpartition(" ")
    other, _, other_unit = b.canon.rpartition(" ")
    if number != other or unit not in COUNTED or other_unit not in COUNTED:
        return False
    return unit in GENERIC or other_unit in GENERIC or _TWINS.get(unit, unit) == _TWINS.get(other_unit, other_unit)
