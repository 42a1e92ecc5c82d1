"""Whether a fact of the leaves is still asserted in the summary. Rule: COMPACTION-AUDIT §6, AUDIT-REFINEMENTS §2.6."""

from __future__ import annotations

from collections.abc import Sequence

from audit.core import facts as factlib
from audit.core.evidence import same_path
from audit.core.facts import Fact, Haystack
from audit.core.leaffacts import GRAM, LeafFacts, Name
from audit.core.nearby import segments, split_number
from audit.core.pool import Pool
from audit.core.schema import PATH_CLASSES


class Asserted:
    """The summary's facts, asked for one leaf fact at a time."""

    def __init__(self, pool: Pool, texts: Sequence[str], cwd: str | None) -> None:
        self._pool = pool
        self._hays = [Haystack(text) for text in texts]
        self._cwd = cwd.rstrip("/") if cwd else ""
        self._paths: dict[str, list[Fact]] = {}
        self._hexes: list[str] = []
        self._numbers: dict[str, list[Fact]] = {}
        for entry in pool:
            fact = entry.fact
            if fact.cls in PATH_CLASSES:
                for last in segments(fact.canon)[-1:]:
                    self._paths.setdefault(last, []).append(fact)
            elif fact.cls == "number_unit":
                parts = split_number(fact.canon)
                if parts:
                    self._numbers.setdefault(parts[0] + parts[1], []).append(fact)
            elif fact.cls == "hex_hash":
                self._hexes.append(fact.canon)

    def likely(self, leaves: LeafFacts) -> set[Name]:
        """Names in the leaves' pool outside of which `kept` is None: few, so that the rest need not be looked for."""
        grams = {hay.lower[at : at + GRAM] for hay in self._hays for at in range(len(hay.lower) - GRAM + 1)}
        grams.update(longer[:GRAM].lower() for longer in self._hexes)
        digits = {hay.folded[at : at + 3] for hay in self._hays for at in range(len(hay.folded) - 2)}
        found = set(self._pool.entries)
        for names in (
            *(leaves.paths.get(last, ()) for last in self._paths),
            *(leaves.numbers.get(number, ()) for number in self._numbers),
            *(leaves.grams[gram] for gram in leaves.grams.keys() & grams),
            *(leaves.bare[last] for last in leaves.bare.keys() & digits),
            leaves.unfiled,
        ):
            found.update(names)
        return set(map(leaves.name_in_pool, found))

    def kept(self, fact: Fact) -> str | None:
        """How the fact is kept: "same", "suffix" (a shorter path), "longer" (id), "bare" (no unit), "literal"; else None."""
        if self._pool.get(fact) is not None:
            return "same"
        if fact.cls == "number_unit":
            return self._number(fact)
        if fact.cls in PATH_CLASSES:
            return self._path(fact)
        if fact.cls == "hex_hash" and any(longer.startswith(fact.canon) for longer in self._hexes):
            return "longer"
        return "literal" if self._literal(fact) else None

    def _literal(self, fact: Fact) -> bool:
        if fact.cls in PATH_CLASSES and not any(factlib.needle(fact).lower() in hay.lower for hay in self._hays):
            return False
        return any(factlib.occurs_in(fact, hay) for hay in self._hays)

    def _number(self, fact: Fact) -> str | None:
        parts = split_number(fact.canon)
        if parts is None:
            return None
        if any(factlib.same(fact, other) for other in self._numbers.get(parts[0] + parts[1], ())):
            return "same"
        return "bare" if any(factlib.bare_number(fact, hay) for hay in self._hays) else None

    def _path(self, fact: Fact) -> str | None:
        parts = segments(fact.canon)
        for other in self._paths.get(parts[-1], ()) if parts else ():
            if same_path(other, fact, self._cwd) or same_path(fact, other, self._cwd):
                shorter = fact.cls == "abs_path" and other.cls == "file_path"
                if not shorter or len(segments(other.canon)) >= 2 or len(parts) == 1:
                    return "suffix" if shorter else "same"
        return "literal" if self._literal(fact) else None
