"""Whether a summary request fits its model, and how much of the session's state has to be left out to make it fit.

Rule: COMPACTION §14 (levels in a fixed order, a budget note from level 1 on, BETTER_COMPACT_BUDGET when nothing helps).
Arithmetic only: the caller prices the messages; nothing of the history is ever cut.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal, TypeAlias

Part: TypeAlias = Literal["goal", "todos", "questions", "jobs", "children"]
PARTS: tuple[Part, ...] = ("goal", "todos", "questions", "jobs", "children")
LEVELS: tuple[tuple[Part, ...], ...] = (PARTS, ("goal", "questions", "jobs", "children"), ("goal",), ())
"""What of the state is sent at level 0, 1, 2, 3."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The first level that fits. `aux`: estimated input tokens; `limit` None: the window is unknown, nothing was checked."""

    level: int
    sent: tuple[Part, ...]
    omitted: tuple[Part, ...]
    aux: int
    limit: int | None
    diagnostics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OverBudget:
    """Not even the request without any state fits."""

    aux: int
    summary_max_tokens: int
    window: int
    message: str
    code: Literal["BETTER_COMPACT_BUDGET"] = "BETTER_COMPACT_BUDGET"


def omitted_at(level: int, present: Collection[Part]) -> tuple[Part, ...]:
    """The parts left out at a level; a part that was empty anyway is not among them."""
    return tuple(part for part in PARTS if part not in LEVELS[level] and part in present)


def fit(
    base_tokens: int,
    instruction_tokens: Callable[[tuple[Part, ...], tuple[Part, ...]], int],
    present: Collection[Part],
    summary_max_tokens: int,
    window: int | None,
    route: str,
) -> Fit | OverBudget:
    """Choose the level.

    `base_tokens`: estimated system message, span and (with cache priority) tools. `instruction_tokens(sent, omitted)`
    prices the final instruction with that state and, if anything is omitted, its budget note. `present`: the parts that are
    not empty. `window`: context window of the summary model `route` ("provider/model").
    """
    if window is None:
        sent = tuple(part for part in PARTS if part in present)
        aux = base_tokens + instruction_tokens(sent, ())
        return Fit(0, sent, (), aux, None, (f"context window of {route} unknown; capacity not checked",))
    limit = window - summary_max_tokens
    aux = 0
    for level, allowed in enumerate(LEVELS):
        sent = tuple(part for part in allowed if part in present)
        omitted = omitted_at(level, present)
        aux = base_tokens + instruction_tokens(sent, omitted)
        if aux <= limit:
            notes = (f"state left out of the summary request to fit {route}: {', '.join(omitted)}",) if omitted else ()
            return Fit(level, sent, omitted, aux, limit, notes)
    return OverBudget(
        aux,
        summary_max_tokens,
        window,
        f"the summary request needs {aux} tokens and an output reserve of {summary_max_tokens}; the window of {route} has"
        f" {window}. Compact a smaller span, lower maxTokens, or choose a model with a larger window.",
    )
