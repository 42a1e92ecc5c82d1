"""What a rule found wrong with a settings document, and how values are shown in such messages.

Rule: QUALITY §4 (bad input: a clear error naming the place), COMPACTION §11 (the key and the supported list).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from dshweb.text.js import stringify

Severity: TypeAlias = Literal["error", "warning"]
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding. `path` as in `modelPolicies[2].maxTokens` (empty: the document itself); `code` is stable.

    `supported`: for an unknown key or a value outside a list, what would have been accepted.
    """

    path: str
    code: str
    message: str
    severity: Severity = "error"
    supported: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The last part of the path: the key that is at fault."""
        return self.path.rpartition(".")[2]


class InvalidSettings(ValueError):
    """A document that does not resolve. `problems` has at least one entry."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = problems


def shown(value: object) -> str:
    """A value as it stands in a message: JSON, cut to 80 characters; what JSON has no number for by JavaScript's name."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    try:
        text = stringify(value)
    except TypeError:
        text = type(value).__name__
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def unknown_key(path: str, key: str, supported: tuple[str, ...]) -> Problem:
    """The problem for a key nobody knows: it is named, and so is every key that would be right there."""
    where = f"{path}.{key}" if path else key
    return Problem(
        where, "unknown-key", f"unknown key {shown(key)}; supported keys: {', '.join(supported)}", "error", supported
    )
