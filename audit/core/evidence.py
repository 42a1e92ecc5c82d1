"""Where in the leaves an asserted fact stands: the sources that support it. Rule: COMPACTION-AUDIT §6, also §2.8 of
AUDIT-REFINEMENTS.

First the extracted facts, then – only for what they do not settle – a search of the texts for the fact's needle.
"""

from __future__ import annotations

from collections.abc import Iterable

from audit.core import facts as factlib
from audit.core.facts import Fact
from audit.core.joined import LeafTexts
from audit.core.leaffacts import LeafFacts
from audit.core.nearby import segments, split_number
from audit.core.schema import PATH_CLASSES

_WEAK = frozenset({"assistant", "reasoning", "injected"})
# These stand in a text only where extraction finds them; the others count also where they stand literally.
_WHOLLY_EXTRACTED = frozenset({"uuid", "number_unit"})


class Evidence:
    """Answers "which sources hold this fact" for the leaves of one compaction."""

    def __init__(self, facts: LeafFacts, texts: LeafTexts, cwd: str | None) -> None:
        self._facts = facts
        self._texts = texts.of
        self._cwd = cwd.rstrip("/") if cwd else ""

    def sources(self, fact: Fact) -> frozenset[str]:
        """Sources whose text holds the fact; empty when none does.

        Tool results are searched only when nothing else was found, and for numbers that no more than the assistant
        wrote; otherwise their absence from the set says nothing.
        """
        found = set(self._extracted(fact))
        tools = self._texts.get("tool_result")
        if tools and (not found or (fact.cls == "number_unit" and found <= _WEAK)) and tools.holds(fact):
            found.add("tool_result")
        if not found and fact.cls not in _WHOLLY_EXTRACTED:
            found.update(name for name, texts in self._texts.items() if texts is not tools and texts.holds(fact))
        if not found and fact.cls == "number_unit":
            found.update(name for name, texts in self._texts.items() if texts.holds_beside(fact))
        return frozenset(found)

    def _extracted(self, fact: Fact) -> Iterable[str]:
        entry = self._facts.pool.get(fact)
        if entry is not None:
            yield from entry.sources
        if fact.cls == "number_unit":
            parts = split_number(fact.canon)
            for other in self._facts.under_number(parts[0] + parts[1]) if parts else ():
                if factlib.same(fact, other.fact):
                    yield from other.sources
        elif fact.cls in PATH_CLASSES:
            last = segments(fact.canon)[-1:]
            for other in self._facts.under_last(last[0]) if last else ():
                if same_path(fact, other.fact, self._cwd):
                    yield from other.sources


def same_path(asked: Fact, leaf: Fact, cwd: str) -> bool:
    """Whether a leaf path holds the asked one: equal, a longer path that ends in it, or the same file under `cwd`."""
    ours, theirs = _bare(asked.canon), _bare(leaf.canon)
    if ours == theirs:
        return True
    if asked.cls == "file_path":
        return theirs.endswith("/" + ours)
    return bool(cwd) and leaf.cls == "file_path" and ours == _bare(cwd) + "/" + theirs


def _bare(canon: str) -> str:
    path = canon.replace("\\", "/")
    while path.startswith("./"):
        path = path[2:]
    return path
