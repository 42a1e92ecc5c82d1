"""The original events under a summary as the compaction page shows them: who said what, with every mark, folded where long."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.urls import reverse
from django.utils.safestring import SafeString

from audit.core.marks import JOINT
from audit.presenting_marks import OPEN_STATES, Marker, Place, cut, gap
from audit.words import SOURCES
from dshweb.sessionlog.models import Compaction, Message
from dshweb.sessionlog.words import author_words

PIECE = 16_000
MONO = frozenset({"tool_args", "tool_result", "injected"})
FOLDED = frozenset({"tool_result", "injected", "reasoning"})
LONG_CALL = 400
BLOCKS = 100  # of one leaf; what else it has is one gap


@dataclass(frozen=True)
class Block:
    """A piece of a leaf from one source. `open`: shown unfolded although it could be folded."""

    source: str
    words: Any
    html: SafeString
    chars: int
    lines: int | None
    marks: int
    foldable: bool
    open: bool
    mono: bool


@dataclass
class LeafItem:
    """One original event. `turn` is set where a new turn begins, `round` when an earlier round had replaced it already."""

    row: Message
    author: Any
    blocks: list[Block] = field(default_factory=list)
    turn: int | None = None
    round: int | None = None
    last: bool = False

    @property
    def side(self) -> bool:
        """Not part of the talk: what a tool printed, or text put in by the harness."""
        return bool(self.blocks) and all(block.source in MONO for block in self.blocks)


@dataclass(frozen=True)
class Around:
    """What the leaves of a window have in common: `last` is the seq of the last human message before the cut, `earlier` the
    seqs that earlier rounds replaced.
    """

    compaction: Compaction
    last: int | None = None
    earlier: Mapping[int, Sequence[int]] = field(default_factory=dict)


def items(
    seqs: Iterable[int],
    messages: Mapping[int, Message],
    marks: Mapping[int, Sequence[Place]],
    marker: Marker,
    around: Around,
) -> list[LeafItem]:
    """The leaves of a window, in order. A seq without a message is left out: the ledger says so by its reasons."""
    found: list[LeafItem] = []
    turn: int | None = None
    earlier = {number: frozenset(below) for number, below in around.earlier.items()}
    for seq in seqs:
        row = messages.get(seq)
        if row is None:
            continue
        item = LeafItem(row, author_words(row.type, row.author, row.human), last=seq == around.last)
        if row.turn is not None and row.turn != turn:
            item.turn = turn = row.turn
        item.round = next((number for number, below in earlier.items() if seq in below), None)
        item.blocks = _blocks(row, marks.get(seq, ()), marker, around)
        found.append(item)
    return found


def pieces(row: Message) -> list[tuple[str, int, int]]:
    """(source, start, length) of a message's blocks in its whole text; one block where the parts are not known."""
    parts = [part for part in row.parts or [] if isinstance(part, list) and len(part) == 2]
    if not parts:
        source = "human" if row.human else "tool_result" if row.type == "tool/result" else "assistant"
        return [(source, 0, max(row.chars, len(row.text)))] if row.text else []
    found, start = [], 0
    for source, length in parts:
        found.append((str(source), start, int(length)))
        start += int(length) + len(JOINT)
    return found


def _blocks(row: Message, places: Sequence[Place], marker: Marker, around: Around) -> list[Block]:
    address = reverse("original", args=[around.compaction.pk, row.seq])
    found = []
    blocks = pieces(row)
    for source, start, length in blocks[:BLOCKS]:
        text = row.text[start : start + length]
        html = cut(marker, text, places, first=start, more=length - len(text), address=address)
        inside = [n for a, _b, n in places if start <= a < start + length and n in marker.facts]
        states = {marker.state(marker.facts[n]) for n in inside}
        chosen = any(marker.facts[n].key in marker.chosen for n in inside)
        foldable = source in FOLDED or (source == "tool_args" and length > LONG_CALL)
        found.append(
            Block(
                source=source,
                words=SOURCES.get(source, source),
                html=html,
                chars=length,
                lines=text.count("\n") + 1 if length == len(text) else None,
                marks=len(inside),
                foldable=foldable,
                open=chosen or not OPEN_STATES.isdisjoint(states),
                mono=source in MONO,
            )
        )
    if len(blocks) > BLOCKS:
        start, end = blocks[BLOCKS][1], blocks[-1][1] + blocks[-1][2]
        below = sum(start <= a for a, _b, _n in places)
        rest = gap(address, start, end, None, below)
        last = found[-1]
        found.append(Block(last.source, "", rest, end - start, None, below, foldable=False, open=False, mono=last.mono))
    return found


def piece_of(marker: Marker, text: str, places: Sequence[Place], *, start: int, end: int, address: str) -> SafeString:
    """[start, end) of a leaf's text as HTML, at most PIECE characters, with a gap for the rest."""
    stop = min(end, start + PIECE, len(text))
    if stop < min(end, len(text)):  # end at a line where there is one
        line = text.rfind("\n", start + PIECE // 2, stop)
        stop = line + 1 if line >= 0 else stop
    html = marker.html(text, places, start, stop)
    if stop >= end:
        return html
    count = sum(1 for a, _b, _n in places if stop <= a < end)
    return html + gap(address, stop, end, None, count)
