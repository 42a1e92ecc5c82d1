"""How full the context is, by the harness's own arithmetic: an anchor at the last answer, and what came after it.

Rule: COMPACTION §5. Provider usage counts only where it is at least the heuristic for the same content; otherwise the
heuristic does. Every result says which of the two it rests on. `Occupancy` is the cheaper number of the harness's UI.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from dshweb.sessionlog.core.body import as_int

from .header_key import RequestHeader
from .surface_price import PricedSurface

Baseline = Literal["usage", "estimated", "none"]
Measurement = Literal["measured", "estimated", "unavailable"]

ATTACHMENTS: Final = "attachments priced structurally"
REPAIRED: Final = "a row with broken text is priced as repaired: a few tokens may differ"


@dataclass(frozen=True, slots=True)
class Anchor:
    """The last answer: key of the header in force (None: there was none), price of the surface in front of it, price
    of the answer, and what the provider counted for both and the tools (None: it did not, or there was no header)."""

    key: str | None
    surface: int
    assistant: int
    usage: int | None


@dataclass(frozen=True, slots=True)
class Measure:
    """Tokens of the next request's context. `total` = max(0, baseline + delta); all None when `reason` says why.

    `baseline` names what the number rests on, `baseline_tokens` is that part, `delta` what the surface gained or lost
    since the anchor. `surface_tokens` and `prefix_tokens` (tools, and the system prompt of v0 to v2) are heuristic.
    """

    baseline: Baseline | None
    baseline_tokens: int | None
    delta: int | None
    total: int | None
    surface_tokens: int | None
    prefix_tokens: int | None
    reason: str | None = None
    diagnostics: tuple[str, ...] = ()

    @property
    def measurement(self) -> Measurement:
        """`measured` rests on provider usage, `estimated` on the heuristic or on nothing."""
        if self.baseline is None:
            return "unavailable"
        return "measured" if self.baseline == "usage" else "estimated"

    def to_json(self) -> dict[str, Any]:
        """Plain members, in the words of COMPACTION §5."""
        return {
            "baseline": None if self.baseline is None else {"kind": self.baseline, "tokens": self.baseline_tokens},
            "surfaceDeltaTokens": self.delta,
            "totalTokens": self.total,
            "surfaceTokens": self.surface_tokens,
            "prefixTokens": self.prefix_tokens,
            "measurement": self.measurement,
            "reason": self.reason,
            "diagnostics": list(self.diagnostics),
        }


@dataclass(frozen=True, slots=True)
class Occupancy:
    """The harness's `contextPressure` projection: the newest usage sample without output, and the surface then.

    None: no sample yet. `tokens` is the sample moved by what the surface gained or lost since.
    """

    surface_tokens: int | None
    pressure_tokens: int | None
    sampled_surface_tokens: int | None
    window: int | None

    @property
    def tokens(self) -> int | None:
        """What the harness's page shows."""
        if self.pressure_tokens is None:
            return None
        if self.surface_tokens is None or self.sampled_surface_tokens is None:
            return self.pressure_tokens
        return max(0, self.pressure_tokens + self.surface_tokens - self.sampled_surface_tokens)


def unavailable(reason: str) -> Measure:
    """A measurement that cannot be made."""
    return Measure(None, None, None, None, None, None, reason)


def measure(
    surface: PricedSurface, header: RequestHeader | None, anchor: Anchor | None, *, repaired: bool = False
) -> Measure:
    """Measure the surface as it is now. `repaired`: the text of some row was not what the harness measured."""
    now = surface.tokens
    if surface.problem is not None or now is None:
        return unavailable(surface.problem or "a node of the surface has no price")
    notes = ((ATTACHMENTS,) if surface.attachments else ()) + ((REPAIRED,) if repaired else ())
    prefix = 0 if header is None else header.prefix_tokens
    kind: Baseline
    if anchor is not None and anchor.key == (None if header is None else header.key):
        then = anchor.surface + anchor.assistant
        kind, baseline = "estimated", prefix + then
        if anchor.usage is not None and anchor.usage >= baseline:
            kind, baseline = "usage", anchor.usage
        delta = now - then
    elif header is None and now == 0:
        kind, baseline, delta = "none", 0, 0
    else:
        kind, baseline, delta = "estimated", prefix + now, 0
    return Measure(kind, baseline, delta, max(0, baseline + delta), now, prefix, None, notes)


def usage_total(usage: Any) -> int | None:
    """Input, cache read, cache write and output tokens of a usage record (reasoning is part of output); None without."""
    prompt = usage_prompt(usage)
    output = as_int(usage.get("outputTokens")) if isinstance(usage, Mapping) else None
    return None if prompt is None or output is None else prompt + output


def usage_prompt(usage: Any) -> int | None:
    """Input, cache read and cache write tokens; None when there is no usage record."""
    if not isinstance(usage, Mapping):
        return None
    given = as_int(usage.get("inputTokens"))
    if given is None:
        return None
    return given + (as_int(usage.get("cacheReadTokens")) or 0) + (as_int(usage.get("cacheWriteTokens")) or 0)
