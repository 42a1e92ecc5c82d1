"""Whether a summary is worth installing: framed as a checkpoint it must cost less than what it replaces.

Rule: COMPACTION §9 "Shrink check" and §10 "Framing". Equal is not less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from .estimate import message_tokens

TAG: Final = "<compacted-summary>"
OPENING: Final = f"\n\n{TAG}"
CLOSING: Final = "</compacted-summary>"


@dataclass(frozen=True, slots=True)
class Shrink:
    """Price of the framed checkpoint and of the span it would replace; `error` is what the harness would record."""

    framed: int
    span: int

    @property
    def accepted(self) -> bool:
        """Whether it may be installed."""
        return self.framed < self.span

    @property
    def error(self) -> str | None:
        """The harness's words for a summary that is too large."""
        if self.accepted:
            return None
        return (
            f"summary is not smaller than the shadowed content ({self.framed} estimated framed tokens >= {self.span})"
        )


def framed(summary: Sequence[dict[str, Any]], preamble: str) -> list[dict[str, Any]]:
    """Content of a checkpoint: the preamble with the opening tag, the summary's blocks, the closing tag."""
    return [{"type": "text", "text": preamble + OPENING}, *summary, {"type": "text", "text": CLOSING}]


def shrinks(summary: Sequence[dict[str, Any]], preamble: str, span_tokens: int) -> Shrink:
    """Compare a summary with the span it would replace. Raises `Unpriced` for a block without text."""
    return Shrink(message_tokens(framed(summary, preamble)), span_tokens)
