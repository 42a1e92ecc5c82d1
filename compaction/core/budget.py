"""The numbers of inspect: `budget` and `preview` for one session, each null when unknown.

Rule: COMPACTION §18 (body and proposed formulas), §2, §6. `window − threshold` stays one zone (DECISIONS 16).
"""

from __future__ import annotations

from dataclasses import dataclass

from compaction.core.estimate import FRAMING
from compaction.core.formula import NoSpec, Spec
from compaction.core.measure import Baseline, Measurement
from compaction.core.policy import Policy


@dataclass(frozen=True, slots=True)
class Meter:
    """What was measured of a session, in tokens. `fixed`: system head and tool declarations, which no compaction removes."""

    kind: Baseline
    total: int
    fixed: int | None


@dataclass(frozen=True, slots=True)
class Range:
    """The span that automatic compaction would take: surface seqs, positional and inclusive, and its price in tokens."""

    start: int
    end: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Budget:
    context_window: int | None
    current_tokens: int | None
    measurement: Measurement
    fixed_tokens: int | None
    threshold_tokens: int | None
    retain_tokens: int | None
    summary_max_tokens: int | None

    def body(self) -> dict[str, object]:
        """As it stands in the inspect answer."""
        return {
            "contextWindow": self.context_window,
            "currentTokens": self.current_tokens,
            "measurement": self.measurement,
            "fixedTokens": self.fixed_tokens,
            "thresholdTokens": self.threshold_tokens,
            "retainTokens": self.retain_tokens,
            "summaryMaxTokens": self.summary_max_tokens,
        }


@dataclass(frozen=True, slots=True)
class Preview:
    """What automatic compaction would do now; `after_upper_bound_tokens` is a bound, not a prediction.

    `reason` None: a range was found and the trigger is reached; `below-threshold` still gives the range.
    """

    before_tokens: int | None
    after_upper_bound_tokens: int | None
    range_start: int | None
    range_end: int | None
    reason: str | None

    def body(self) -> dict[str, object]:
        """As it stands in the inspect answer."""
        return {
            "beforeTokens": self.before_tokens,
            "afterUpperBoundTokens": self.after_upper_bound_tokens,
            "rangeStart": self.range_start,
            "rangeEnd": self.range_end,
            "reason": self.reason,
        }


def budget(meter: Meter | None, policy: Policy, worked_out: Spec | NoSpec, window: int | None) -> Budget:
    """The budget of a session; `window` from the catalogue or the log.

    `meter` None: the measurement failed, then every number is null (§18).
    """
    if meter is None:
        return Budget(None, None, "unavailable", None, None, None, None)
    known = worked_out if isinstance(worked_out, Spec) else None
    return Budget(
        context_window=window,
        current_tokens=meter.total,
        measurement="measured" if meter.kind == "usage" else "estimated",
        fixed_tokens=meter.fixed,
        threshold_tokens=known.threshold if known else None,
        retain_tokens=known.retain if known else None,
        summary_max_tokens=policy.max_tokens.value,
    )


def preview(
    meter: Meter | None, policy: Policy, worked_out: Spec | NoSpec, found: Range | None, *, failed: str = ""
) -> Preview:
    """What pressure compaction would do with a session now.

    `found`: the range selected with `spec.retain`, None when no safe cut exists. `failed`: why the meter is None.
    """
    if meter is None:
        return Preview(None, None, None, None, f"unavailable: {failed or 'measurement failed'}")
    before = meter.total
    if isinstance(worked_out, NoSpec):
        why = "context window unknown" if worked_out.code == "window-unknown" else worked_out.message
        return Preview(before, None, None, None, f"unavailable: {why}")
    if found is None:
        return Preview(before, None, None, None, "no-safe-range")
    after = before - found.tokens + FRAMING + policy.max_tokens.value
    reason = "below-threshold" if before < worked_out.threshold else None
    return Preview(before, after, found.start, found.end, reason)
