"""What the model sees: the ordered list of surface nodes, folded from the events. Rule: SESSION-LOG §5, COMPACTION §4.

Both spellings of a replacement are one `Replace` here. Nodes are a linked list, each with a rank that grows along the
list, so an append and a replacement cost what they add and remove, however long the list is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from .events import Event, Replace

SURFACE_TYPES: Final = frozenset(
    {"system/message", "developer/message", "user/message", "assistant/message", "tool/result"}
)
KEEP_PROBLEMS: Final = 100


@dataclass(frozen=True, slots=True)
class SurfaceProblem:
    """An event that could not be folded: `duplicate_node`, `unknown_start`, `unknown_end`, `start_after_end`."""

    seq: int
    code: str


class Surface:
    """The fold. Problems are noted, never raised; an event that cannot be folded leaves the list as it is."""

    def __init__(self) -> None:
        self._next: dict[int, int] = {-1: -2}
        self._prev: dict[int, int] = {-2: -1}
        self._rank: dict[int, int] = {}
        self._last_rank = 0
        self.problems: list[SurfaceProblem] = []
        self.problem_count = 0

    def __len__(self) -> int:
        return len(self._rank)

    def __iter__(self) -> Iterator[int]:
        """Seqs of the nodes in order."""
        node = self._next[-1]
        while node != -2:
            yield node
            node = self._next[node]

    def __reversed__(self) -> Iterator[int]:
        """Seqs of the nodes from the last to the first."""
        node = self._prev[-2]
        while node != -1:
            yield node
            node = self._prev[node]

    def __contains__(self, seq: object) -> bool:
        return seq in self._rank

    def apply(self, event: Event) -> tuple[int, ...]:
        """Fold one event; the seqs of the nodes it replaced."""
        op = event.surface_op
        if op is None:
            return ()
        if event.seq in self._rank:
            return self._problem(event.seq, "duplicate_node")
        if isinstance(op, Replace):
            return self._replace(event.seq, op)
        self._last_rank += 1
        self._link(self._prev[-2], event.seq, -2, self._last_rank)
        return ()

    def span(self, start: int, end: int) -> list[int] | None:
        """Seqs from the position of `start` to that of `end`, None when that is no stretch of the list."""
        if start not in self._rank or end not in self._rank or self._rank[start] > self._rank[end]:
            return None
        seqs = [start]
        while seqs[-1] != end:
            seqs.append(self._next[seqs[-1]])
        return seqs

    def _replace(self, seq: int, op: Replace) -> tuple[int, ...]:
        if op.start not in self._rank:
            return self._problem(seq, "unknown_start")
        if op.end not in self._rank:
            return self._problem(seq, "unknown_end")
        gone = self.span(op.start, op.end)
        if gone is None:
            return self._problem(seq, "start_after_end")
        rank, before, after = self._rank[op.start], self._prev[op.start], self._next[op.end]
        for node in gone:
            del self._rank[node], self._next[node], self._prev[node]
        self._link(before, seq, after, rank)
        return tuple(gone)

    def _link(self, before: int, seq: int, after: int, rank: int) -> None:
        self._next[before], self._prev[seq] = seq, before
        self._next[seq], self._prev[after] = after, seq
        self._rank[seq] = rank

    def _problem(self, seq: int, code: str) -> tuple[int, ...]:
        self.problem_count += 1
        if len(self.problems) < KEEP_PROBLEMS:
            self.problems.append(SurfaceProblem(seq, code))
        return ()

    def to_json(self) -> dict[str, Any]:
        """State: the nodes and what could not be folded."""
        return {
            "nodes": list(self),
            "problems": [[p.seq, p.code] for p in self.problems],
            "problemCount": self.problem_count,
        }

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> Surface:
        """Inverse of `to_json`."""
        surface, nodes = cls(), state["nodes"]
        surface._next = dict(zip((-1, *nodes), (*nodes, -2), strict=True))
        surface._prev = dict(zip((*nodes, -2), (-1, *nodes), strict=True))
        surface._last_rank = len(nodes)
        surface._rank = dict(zip(nodes, range(1, len(nodes) + 1), strict=True))
        surface.problems = [SurfaceProblem(seq, code) for seq, code in state["problems"]]
        surface.problem_count = state["problemCount"]
        return surface
