"""The leaves of one log's compactions, as they grow: each summary's leaves begin with those of the summary nested in it.

What an audit makes of leaves alone – facts, indexes, demands – is a `Part`, given each leaf once. So a log with many nested
compactions costs its leaves once and not once for each compaction above them (AUDIT-REFINEMENTS §2.8).
"""

from __future__ import annotations

from typing import Protocol, Self, TypeVar

from audit.core.extraction import FactCache, Rules, rules_of
from audit.core.policy import Policy
from dshweb.sessionlog.core.leaves import Leaf


class Part(Protocol):
    """Something made of leaves one by one. It must not depend on the summary, nor on leaves that come later."""

    @classmethod
    def empty(cls, cache: FactCache, rules: Rules) -> Self:
        """The part of no leaves."""

    def add(self, leaf: Leaf) -> None:
        """Take in the next leaf, in seq order."""


P = TypeVar("P", bound=Part)


class Growing:
    """Leaves with their parts. Leaves that do not begin with those before start anew, so those of any compaction may come next."""

    def __init__(self) -> None:
        self.cache = FactCache()
        self.leaves: tuple[Leaf, ...] = ()
        self._policy = Policy()
        self._parts: dict[type, tuple[int, Part]] = {}

    def at(self, leaves: tuple[Leaf, ...], policy: Policy) -> Self:
        """These leaves from now on; what their parts gave before is no longer good."""
        if self._policy != policy:
            self.cache, self._parts = FactCache(), {}
        elif leaves[: len(self.leaves)] != self.leaves:
            self._parts = {}
        self.leaves, self._policy = leaves, policy
        return self

    def part(self, kind: type[P]) -> P:
        """The part of that kind of all the leaves. One that breaks is forgotten: no later audit sees half of it."""
        done, part = self._parts.pop(kind, (0, None))
        made = part if isinstance(part, kind) else kind.empty(self.cache, rules_of(self._policy))
        for leaf in self.leaves[done:]:
            made.add(leaf)
        self._parts[kind] = (len(self.leaves), made)
        return made
