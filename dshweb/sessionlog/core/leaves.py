"""Leaves of a summary: the original pieces of conversation a compaction replaced, and the ledger that leads to them.

Values only. `ledger.py` makes them from a log, the audit judges by them. Rule: AUDIT-REFINEMENTS §2.7 and
COMPACTION-AUDIT §5 in the project's shared documents; see docs/decisions/0001-shape-of-the-product.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import msgspec

Source = Literal["human", "assistant", "reasoning", "tool_args", "tool_result", "injected"]
SOURCES: tuple[Source, ...] = ("human", "assistant", "reasoning", "tool_args", "tool_result", "injected")


class Block(msgspec.Struct, frozen=True):
    """One piece of a leaf's text, from one source.

    `index` is the block's position in the event's content list (several pieces may share it: a tool call gives its
    name and its arguments as one piece). `text` of a tool call is `name`, a newline, then the decoded argument
    strings one a line. `label` is the tool's name for tool_args and tool_result when known, else "".
    """

    seq: int
    index: int
    source: Source
    text: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One original event under a summary. `author` is the event's `source.kind` as it stands; `time` is epoch ms."""

    seq: int
    type: str
    author: str
    time: int | None
    turn: int | None
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class LedgerReason:
    """Why a ledger is incomplete: code as in COMPACTION-AUDIT §5, `seq` of the row concerned if there is one."""

    code: str
    seq: int | None = None


@dataclass(frozen=True, slots=True)
class Ledger:
    """How a summary leads to its leaves. `depth` counts nested summaries (1 = none), sizes are counts."""

    leaf_seqs: tuple[int, ...]
    depth: int
    reasons: tuple[LedgerReason, ...] = ()
    opaque_blocks: int = 0
    externalized: int = 0

    @property
    def incomplete(self) -> bool:
        return bool(self.reasons)
