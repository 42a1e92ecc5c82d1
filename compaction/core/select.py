"""Which stretch of the surface a compaction would replace, and which tool results pruning would shorten.

Rules: COMPACTION §6 (range, tool balance), §7 (pruning), §4 (the system head in front is never inside a range).
Ranges are positional: after an earlier compaction the first seq may be larger than the last, so seqs are never compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Literal

from dshweb.text.digest import text_blocks

from .surface_price import Node, PricedSurface

Refusal = Literal["empty-surface", "all-retained", "no-balanced-cut", "unpriced"]

PRUNE_MARKER: Final = "\n\n[... tool result middle pruned ...]\n\n"


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of the surface. `tokens` is its price, `retained` the price of what stays behind it."""

    start: int
    end: int
    tokens: int
    retained: int


@dataclass(frozen=True, slots=True)
class Range(Stretch):
    """The same with the seqs of all its nodes."""

    seqs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """A range, or why there is none."""

    range: Range | None
    refusal: Refusal | None


@dataclass(frozen=True, slots=True)
class PruneConfig:
    """Settings of the pruner, in code points; the harness's defaults."""

    threshold: int = 8192
    head: int = 4096
    tail: int = 1024

    @property
    def possible(self) -> bool:
        """Whether a shortened result is sure to be below the threshold; the harness refuses other settings."""
        return self.head + len(PRUNE_MARKER) + self.tail <= self.threshold


def select(nodes: Sequence[Node], retain: int) -> Selection:
    """The range that keeps at least `retain` tokens at the end (at least one node) and cuts no tool call from its result.

    `retain` 0 is what a manual compaction and the recovery from an overflow use.
    """
    if not nodes:
        return Selection(None, "empty-surface")
    first = 1 if nodes[0].system else 0
    prices = [node.tokens for node in nodes]
    known = [price for price in prices if price is not None]
    if len(known) < len(prices):
        return Selection(None, "unpriced")
    keep, kept = len(nodes), 0
    while keep > 0:
        keep -= 1
        kept += known[keep]
        if kept >= retain:
            break
    if keep <= first:
        return Selection(None, "all-retained")
    open_calls = open_before(nodes)
    while keep > first and open_calls[keep] != 0:
        keep -= 1
        kept += known[keep]
    if keep <= first:
        return Selection(None, "no-balanced-cut")
    span = nodes[first:keep]
    return Selection(Range(span[0].seq, span[-1].seq, sum(known[first:keep]), kept, tuple(n.seq for n in span)), None)


def select_ends(surface: PricedSurface, retain: int) -> tuple[Stretch | None, Refusal | None]:
    """What `select` says of a surface, without its list of nodes: only the tail that stays is walked."""
    total, first = surface.tokens, next(iter(surface), None)
    if first is None:
        return None, "empty-surface"
    if total is None:
        return None, "unpriced"
    before = 1 if first.system else 0
    if first.system:
        total -= first.tokens or 0
        first = next(islice(surface, 1, None), first)
    kept, open_calls = 0, surface.balance
    backwards, keep = reversed(surface), len(surface)
    refusal: Refusal = "all-retained"
    for node in backwards:
        keep, kept, open_calls = keep - 1, kept + (node.tokens or 0), open_calls - node.balance
        if keep <= before:
            break
        if kept >= retain:
            refusal = "no-balanced-cut"
            if open_calls == 0:
                return Stretch(first.seq, next(backwards).seq, total - kept, kept), None
    return None, refusal


def open_before(nodes: Iterable[Node]) -> list[int]:
    """Tool calls without a result in front of each position, and at the end; a cut is balanced where it is 0.

    Counted by number, not by call id. Below zero the surface is corrupt.
    """
    counts = [0]
    for node in nodes:
        counts.append(counts[-1] + node.balance)
    return counts


def span_tokens(nodes: Iterable[Node]) -> int | None:
    """`shadowedTokenCount` of a stretch: the sum of its prices, None when one is unknown."""
    total = 0
    for node in nodes:
        if node.tokens is None:
            return None
        total += node.tokens
    return total


def prunable(nodes: Iterable[Node], config: PruneConfig | None = None) -> list[Node]:
    """Tool results whose text is longer than the threshold, in surface order."""
    limit = (config or PruneConfig()).threshold
    return [node for node in nodes if node.chars > limit]


def pruned(content: Sequence[Any], config: PruneConfig | None = None) -> list[Any]:
    """Blocks of a pruned tool result: the first and the last code points of its text, the marker between them.

    The text is that of all text blocks together; each keeps what of it falls into the head or the tail, and the marker
    stands in the first that reaches beyond the head. Text blocks left with nothing go; other blocks stay in order.
    (Seen in DSH 0.2.1-rc.2 with results of up to six text blocks.)
    """
    config = config or PruneConfig()
    total = sum(map(len, text_blocks(content)))
    if total <= config.threshold:
        return list(content)
    out: list[Any] = []
    begin, marker = 0, PRUNE_MARKER
    for block in content:
        texts = text_blocks([block])
        if not texts:
            out.append(block)
            continue
        text = texts[0]
        end = begin + len(text)
        kept = text[: max(0, config.head - begin)]
        if end > config.head:
            kept, marker = kept + marker, ""
        kept += text[max(0, total - config.tail - begin) :]
        if kept:
            out.append({**block, "text": kept})
        begin = end
    return out
