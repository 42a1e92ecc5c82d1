"""The surface with a price on every node: what the model sees, and what the heuristic says it costs.

Rule: COMPACTION §4 (fold), §3 (price of a node), §5 ("route pricing": prices by the heuristic alone, images and files
marked), §6 (tool balance of a node), §7 (how long a tool's text is). Numbers only: no text of a row is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import repeat
from typing import Any, Final, NamedTuple

from dshweb.sessionlog.core.events import Event
from dshweb.sessionlog.core.surface import SURFACE_TYPES, Surface
from dshweb.text.digest import text_blocks

from .estimate import Unpriced, event_tokens

_ATTACHED: Final = ("image", "file")
_PLAIN: Final = ("text", "reasoning", "tool-call")
MISSING: Final = -1


class Node(NamedTuple):
    """One surface node.

    `tokens` None: it has no price. `balance`: tool calls it opens, -1 for a result. `chars`: code points of a tool
    result's text blocks, which pruning goes by; 0 for other nodes. `attached`: holds an image or a file, which the
    harness prices by the route and we by its structure. `plain`: every block is measured by its text, none by its JSON
    (not kept in the state).
    """

    seq: int
    tokens: int | None
    balance: int = 0
    chars: int = 0
    system: bool = False
    attached: bool = False
    plain: bool = True


class PricedSurface:
    """Fold surface events with `apply`. `tokens` is the sum over all nodes, None while one has no price.

    `balance` is that of all nodes together. `problem` says, once, why the surface is no longer the harness's own: a node
    that could not be priced, a replacement of nodes that are not there.
    """

    def __init__(self) -> None:
        self.problem: str | None = None
        self._order = Surface()
        self._nodes: dict[int, Node] = {}
        self.balance = 0
        self._sum = 0
        self._unpriced = 0
        self._attached = 0

    def __iter__(self) -> Iterator[Node]:
        """Nodes in surface order."""
        return map(self._nodes.__getitem__, self._order)

    def __reversed__(self) -> Iterator[Node]:
        """Nodes from the last to the first."""
        return map(self._nodes.__getitem__, reversed(self._order))

    def __len__(self) -> int:
        return len(self._nodes)

    @property
    def tokens(self) -> int | None:
        """Price of the whole surface."""
        return None if self._unpriced else self._sum

    @property
    def attachments(self) -> int:
        """Nodes that hold an image or a file."""
        return self._attached

    @property
    def head(self) -> Node | None:
        """The protected system message in front, None when the surface does not begin with one (v0 to v2)."""
        first = next(iter(self), None)
        return first if first is not None and first.system else None

    def span(self, start: int, end: int) -> list[Node] | None:
        """Nodes from the position of `start` to that of `end`; None when that is no stretch of the surface."""
        seqs = self._order.span(start, end)
        return None if seqs is None else [self._nodes[seq] for seq in seqs]

    def apply(self, event: Event, body: Mapping[str, Any], *, wrapped: bool) -> Node | None:
        """Fold one event with its decoded data; its node, None when it makes none. `wrapped` as in `block_tokens`."""
        if event.surface_op is None or event.type not in SURFACE_TYPES:
            return None
        problems = self._order.problem_count
        for seq in self._order.apply(event):
            self._count(self._nodes.pop(seq), -1)
        if self._order.problem_count > problems:
            self.problem = self.problem or f"{event.seq}: {self._order.problems[-1].code}"
            return None
        node = self._price(event, body, wrapped=wrapped)
        self._nodes[event.seq] = node
        self._count(node, 1)
        return node

    def _price(self, event: Event, body: Mapping[str, Any], *, wrapped: bool) -> Node:
        price: int | None = None
        try:
            price = event_tokens(event.type, body, wrapped=wrapped)
        except (Unpriced, TypeError, RecursionError) as error:
            self.problem = self.problem or f"{event.seq}: {error}"
        message = body if event.type == "user/message" else body.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
        balance = chars = 0
        if event.type == "assistant/message":
            balance = sum(block.get("type") == "tool-call" for block in blocks)
        elif event.type == "tool/result":
            balance = -1
            chars = text_chars(blocks, wrapped=wrapped)
        plain = all(block.get("type") in _PLAIN for block in blocks)
        return Node(event.seq, price, balance, chars, event.type == "system/message", _attached(blocks), plain)

    def _count(self, node: Node, sign: int) -> None:
        if node.tokens is None:
            self._unpriced += sign
        else:
            self._sum += sign * node.tokens
        self._attached += sign * node.attached
        self.balance += sign * node.balance

    def to_json(self) -> dict[str, Any]:
        """State: one list per member, in surface order; an unknown price is -1."""
        nodes = list(self)
        return {
            "seqs": [n.seq for n in nodes],
            "tokens": [n.tokens for n in nodes]
            if not self._unpriced
            else [MISSING if n.tokens is None else n.tokens for n in nodes],
            "balance": [n.balance for n in nodes],
            "chars": {str(n.seq): n.chars for n in nodes if n.chars},
            "system": [n.seq for n in nodes if n.system],
            "attached": [n.seq for n in nodes if n.attached],
            "problem": self.problem,
        }

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> PricedSurface:
        """Inverse of `to_json`."""
        surface = cls()
        surface.problem = state["problem"]
        seqs, tokens, balances = state["seqs"], state["tokens"], state["balance"]
        surface._order = Surface.from_json({"nodes": seqs, "problems": [], "problemCount": 0})
        unpriced = tokens.count(MISSING)
        prices = tokens if not unpriced else [None if price == MISSING else price for price in tokens]
        # in columns: a log with tens of thousands of nodes is taken up again for each frame that is appended
        chars = map({int(seq): n for seq, n in state["chars"].items()}.get, seqs, repeat(0))
        system = map(frozenset(state["system"]).__contains__, seqs)
        attached = map(frozenset(state["attached"]).__contains__, seqs)
        nodes = map(Node, seqs, prices, balances, chars, system, attached)
        surface._nodes = dict(zip(seqs, nodes, strict=True))
        if len(prices) != len(seqs) or len(balances) != len(seqs):
            raise ValueError("columns of a surface that do not fit")
        surface._unpriced, surface._sum = unpriced, sum(tokens) - unpriced * MISSING
        surface.balance, surface._attached = sum(balances), len(state["attached"])
        return surface


def text_chars(blocks: list[dict[str, Any]], *, wrapped: bool) -> int:
    """Code points of the text blocks of a tool result; `wrapped` ones are inside their `tool-result` block."""
    inner = [block.get("content") for block in blocks if wrapped and block.get("type") == "tool-result"]
    return sum(len(text) for content in (blocks, *inner) for text in text_blocks(content))


def _attached(blocks: list[dict[str, Any]]) -> bool:
    """Whether one is an image or a file, also inside the block in which v0 to v3 wrap a tool's result."""
    for block in blocks:
        inner = block.get("content")
        within = [b.get("type") for b in inner if isinstance(b, dict)] if isinstance(inner, list) else []
        if any(kind in _ATTACHED for kind in (block.get("type"), *within)):
            return True
    return False
