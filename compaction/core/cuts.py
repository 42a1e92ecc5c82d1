"""All ranges a surface offers, packed: what `select` says for any retained tail, without the surface at hand.

Rule: COMPACTION §6 again (`select` is the plain form, a test holds the two together). A request for one session must
cost the same whether it has fifty nodes or twenty thousand: the table is bytes, and a look-up reads a few of them.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from .select import Refusal, open_before
from .surface_price import Node

_HEAD: Final = 5  # format, start seq, tokens behind the first node, tokens of the whole selectable part, nodes
_FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class Cut:
    """What `select` would choose, in numbers: seqs at both ends, price of the range, price of what stays behind it.

    All None where there is no range; `refusal` then says why.
    """

    start: int | None
    end: int | None
    tokens: int | None
    retained: int | None
    refusal: Refusal | None = None


def pack_cuts(nodes: Sequence[Node]) -> bytes | None:
    """The table of a surface, 16 bytes for each balanced cut and 40 more. None when a node has no price."""
    first = 1 if nodes and nodes[0].system else 0
    open_calls = open_before(nodes)
    tails, ends = array("q"), array("q")
    tail = whole = 0
    for k in range(len(nodes) - 1, first, -1):
        price = nodes[k].tokens
        if price is None:
            return None
        tail += price
        if open_calls[k] == 0:
            tails.append(tail)
            ends.append(nodes[k - 1].seq)
    behind = tail if len(nodes) > first + 1 else -1  # -1: there is nothing that could be behind a cut
    for node in nodes[: first + 1]:
        if node.tokens is None:
            return None
        whole = tail + node.tokens  # of the last of them, which is the first that may be in a range
    start = nodes[first].seq if len(nodes) > first else -1
    return (array("q", [_FORMAT, start, behind, whole, len(nodes)]) + tails + ends).tobytes()


def cut_at(table: bytes | memoryview, retain: int) -> Cut:
    """What `select(nodes, retain)` says of the packed surface. Raises ValueError for what is no table of this format."""
    view = memoryview(table)
    if view.nbytes % 8 or view.nbytes < 8 * _HEAD or (view.nbytes // 8 - _HEAD) % 2:
        raise ValueError("no table of cuts")
    numbers = view.cast("B").cast("q")
    form, start, behind, whole, count = numbers[:_HEAD].tolist()
    if form != _FORMAT:
        raise ValueError(f"table of cuts of format {form}")
    if not count:
        return Cut(None, None, None, None, "empty-surface")
    cuts = (len(numbers) - _HEAD) // 2
    tails, ends = numbers[_HEAD : _HEAD + cuts], numbers[_HEAD + cuts :]
    at = bisect_left(tails, retain)
    if at < cuts:
        return Cut(start, ends[at], whole - tails[at], tails[at])
    return Cut(None, None, None, None, "all-retained" if behind < max(retain, 0) else "no-balanced-cut")
