"""From a summary to the original events it stands for. Rule: COMPACTION-AUDIT §5, AUDIT-REFINEMENTS §2.7.

Linear: each cited row is looked at once. Nothing here guesses; what cannot be followed is a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Final

from .authors import author_of
from .body import expand_seqs
from .events import Event, Replace
from .leaves import Leaf, Ledger, LedgerReason
from .limits import Limits
from .messages import Message, parse_message
from .surface import SURFACE_TYPES

MOST_SEQS: Final = Limits().row_seqs

GetEvent = Callable[[int], Event | None]


@dataclass(slots=True)
class _Walk:
    """One resolution under way. `state` of a seq: 1 while below it, 2 when done."""

    get: GetEvent
    top: int
    summaries: Mapping[str, int]
    most: int
    state: dict[int, int] = field(default_factory=dict)
    leaves: dict[int, Event] = field(default_factory=dict)
    reasons: list[LedgerReason] = field(default_factory=list)
    depth: int = 1

    def reason(self, code: str, seq: int | None = None) -> None:
        found = LedgerReason(code, seq)
        if found not in self.reasons[-20:] and len(self.reasons) < 1000:
            self.reasons.append(found)

    def run(self, seqs: Iterable[int]) -> None:
        """Expand `seqs` depth first without recursion: a log may nest as deep as it likes."""
        stack: list[tuple[int, int, bool]] = [(seq, 1, False) for seq in reversed(list(seqs))]
        while stack:
            seq, depth, leave = stack.pop()
            if leave:
                self.state[seq] = 2
                continue
            seen = self.state.get(seq)
            if seen:
                if seen == 1:
                    self.reason("cycle", seq)
                continue
            self.state[seq] = 1
            self.depth = max(self.depth, depth)
            stack.append((seq, depth, True))
            below, nested = self._below(seq)
            stack.extend((s, depth + nested, False) for s in reversed(below))

    def _below(self, seq: int) -> tuple[list[int], int]:
        """Seqs to expand in place of `seq`, and 1 when they lie under a summary of their own."""
        event = self.get(seq) if seq < self.top else None
        if event is None:
            self.reason("missing_seq", seq)
            return [], 0
        if event.type not in SURFACE_TYPES:
            self.reason("not_surface", seq)
            return [], 0
        if event.type == "user/message" and author_of(event.body.get("source")).is_checkpoint:
            return self._summary_of(event), 1
        if not isinstance(event.surface_op, Replace):
            self.leaves[seq] = event
            return [], 0
        below = [s for s in event.source_event_seqs or () if s != seq and self._is_surface(s)]
        if not below:
            self.reason("replacement_without_source", seq)
            self.leaves[seq] = event
        return below, 0

    def _is_surface(self, seq: int) -> bool:
        event = self.get(seq) if seq < self.top else None
        return event is not None and event.type in SURFACE_TYPES

    def _summary_of(self, checkpoint: Event) -> list[int]:
        """What the summary behind an earlier checkpoint shadows."""
        source = checkpoint.body.get("source") or {}
        stated = source.get("compactionId")
        known = self.summaries.get(stated) if isinstance(stated, str) else None
        cited = [s for s in (checkpoint.source_event_seqs or ())[:64] if s != known]
        fallback: Event | None = None
        for seq in ([known] if known is not None else []) + cited:
            event = self.get(seq) if seq < self.top else None
            if event is None or event.type != "compaction/summary":
                continue
            if event.body.get("compactionId") == stated:
                return list(shadowed(event, self.most))
            fallback = fallback or event
        if fallback is not None:
            return list(shadowed(fallback, self.most))
        self.reason("checkpoint_without_summary", checkpoint.seq)
        return []


def shadowed(summary: Event, most: int = MOST_SEQS) -> tuple[int, ...]:
    """`shadowedSeqs` of a `compaction/summary` row; `shadowedRange` is no interval and is never read as one."""
    return expand_seqs(summary.body.get("shadowedSeqs"), most)[0]


def build_ledger(
    summary: Event,
    get_event: GetEvent,
    *,
    summaries: Mapping[str, int] | None = None,
    span_ok: bool | None = None,
    damaged: bool = False,
    log_format: int | None = None,
    tools: Mapping[str, str] | None = None,
    turn_of: Callable[[int], int | None] | None = None,
    known: MutableMapping[int, Message] | None = None,
) -> tuple[Ledger, tuple[Leaf, ...]]:
    """Ledger of a `compaction/summary` row and its leaves in seq order.

    `get_event` gives the event of a seq or None. `summaries` maps compaction ids to summary seqs; without it the
    summary that a checkpoint cites is taken. `span_ok` and `damaged` are the attempt's `span_ok` and
    `damaged_before`, `log_format` the header's version. `tools` maps call ids to tool names for labels, `turn_of` gives
    the turn of a user message's seq. `known` keeps parsed messages by seq from one summary of a log to the next, which
    share their leaves. Raises nothing that `get_event` does not raise.
    """
    walk = _Walk(get_event, summary.seq, summaries or {}, MOST_SEQS)
    walk.run(shadowed(summary))
    parsed = {} if known is None else known
    messages = []
    for seq, event in sorted(walk.leaves.items()):
        if seq not in parsed:
            parsed[seq] = _message(event, tools, turn_of)
        messages.append(parsed[seq])
    if span_ok is False:
        walk.reason("span_mismatch", summary.seq)
    if damaged:
        walk.reason("damaged_log")
    if log_format is not None and log_format < 3:
        for message in messages:
            if not message.mapped:
                walk.reason("unknown_format", message.seq)
    ledger = Ledger(
        leaf_seqs=tuple(m.seq for m in messages),
        depth=walk.depth,
        reasons=tuple(sorted(walk.reasons, key=lambda r: (r.code, -1 if r.seq is None else r.seq))),
        opaque_blocks=sum(m.opaque_blocks for m in messages),
        externalized=sum(m.externalized for m in messages),
    )
    return ledger, tuple(m.leaf() for m in messages)


def _message(event: Event, tools: Mapping[str, str] | None, turn_of: Callable[[int], int | None] | None) -> Message:
    turn = turn_of(event.seq) if turn_of is not None and event.type == "user/message" else None
    message = parse_message(event, turn=turn, tools=tools)
    assert message is not None  # noqa: S101 - leaves are surface rows
    return message


def summary_texts(summary: Event) -> tuple[str, ...]:
    """Text blocks of a summary, never its `rawOutput`."""
    blocks = summary.body.get("summary")
    if not isinstance(blocks, list):
        return ()
    texts = (b.get("text") for b in blocks if isinstance(b, dict) and b.get("type") == "text")
    return tuple(t for t in texts if isinstance(t, str))


__all__ = ["GetEvent", "build_ledger", "shadowed", "summary_texts"]
