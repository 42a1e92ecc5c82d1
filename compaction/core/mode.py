"""Which kind of compaction wrote a checkpoint, by its headings. Rule: COMPACTION §18 (`mode`), §10, §13 and §15.

A mode is proven or unknown: the harness does not check that a summary has the headings it asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal

from dshweb.text.digest import text_blocks

from .shrink import CLOSING, TAG

Mode = Literal["native", "goal", "handoff"]

NATIVE_HEADINGS: Final = (
    "Primary Request and Intent", "Key Technical Concepts", "Files and Code", "Errors and Fixes", "Pending Jobs",
    "Current Work", "Next Step", "Critical Context",
)  # fmt: skip
GOAL_HEADINGS: Final = (
    "Current Goal and Open Requests", "Constraints and Approvals", "Decisions and Rationale", "Work Status",
    "Verification", "Artifacts and Identifiers", "Next Actions",
)  # fmt: skip
HANDOFF_HEADINGS: Final = (*GOAL_HEADINGS, "Suggested Skills")

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)", re.DOTALL)
_HANDOFF: Final = {"File", "Session", "Created"}


def mode_of(content: Any) -> Mode | None:
    """Mode of a checkpoint by the content of its message (blocks, or one string); None when nothing proves one."""
    return mode_of_text(summary_text(content))


def mode_of_text(text: str) -> Mode | None:
    """Mode of a summary's text."""
    lines = [line for line, fenced in plain_lines(text) if not fenced]
    found = [line[3:] for line in lines if line.startswith("## ")]
    if _in_order(found, NATIVE_HEADINGS):
        return "native"
    if _has_header(lines):
        return "handoff" if _in_order(found, HANDOFF_HEADINGS) else None
    return "goal" if _in_order(found, GOAL_HEADINGS) else None


def summary_text(content: Any) -> str:
    """The summary inside a checkpoint, without preamble and tags; all of its text when it is not framed."""
    texts = [content] if isinstance(content, str) else text_blocks(content)
    if len(texts) > 2 and texts[0].endswith(TAG) and texts[-1] == CLOSING:
        texts = texts[1:-1]
    return "\n".join(texts)


def plain_lines(text: str) -> Iterator[tuple[str, bool]]:
    """Lines without trailing white space, and whether each belongs to fenced code (its fences too)."""
    fence = ""
    for raw in text.split("\n"):
        line = raw.rstrip()
        match = _FENCE.fullmatch(line)
        if not fence:
            opens = match is not None and not (match[1][0] == "`" and "`" in match[2])
            fence = match[1] if match is not None and opens else ""
            yield line, opens
        else:
            yield line, True
            if match is not None and not match[2] and match[1][0] == fence[0] and len(match[1]) >= len(fence):
                fence = ""


def _in_order(found: Sequence[str], wanted: tuple[str, ...]) -> bool:
    """Whether each wanted heading stands there once, in this order; others may stand between them."""
    return tuple(heading for heading in found if heading in wanted) == wanted


def _has_header(lines: Sequence[str]) -> bool:
    """Whether the text begins with the header of a hand-off file: its title and the bullets that name the file."""
    body = [line for line in lines if line][:6]
    if not body or body[0] != "# Handoff":
        return False
    return {line[2:].partition(": ")[0] for line in body[1:] if line.startswith("- ")} >= _HANDOFF
