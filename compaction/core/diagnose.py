"""What stands in the way of a compaction that helps, and which setting to turn: the `diagnostics` of inspect.

Rule: seed «预算/保留» (capacity, fixed prefix, retained tail against trigger, no safe range), COMPACTION §2, §14, §18; field
reports 016, 017, 019, 020, 023.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from compaction.core.budget import Meter, Range
from compaction.core.estimate import FRAMING
from compaction.core.formula import NoSpec, Spec
from compaction.core.policy import Policy
from compaction.core.problem import Severity


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding: a stable `code`, the sentence for inspect, and the settings that would change it (most direct first)."""

    code: str
    text: str
    severity: Severity = "warning"
    controls: tuple[str, ...] = ()


def diagnose(
    policy: Policy, worked_out: Spec | NoSpec, meter: Meter | None, found: Range | None, *, auto: bool = True
) -> tuple[Diagnostic, ...]:
    """Diagnostics for one session under one policy. `found`: the automatic range, None when there is no safe cut."""
    if isinstance(worked_out, NoSpec):
        severity: Severity = "warning" if worked_out.unknown else "error"
        return (Diagnostic(worked_out.code, worked_out.message, severity, worked_out.controls),)
    return tuple(_all(policy, worked_out, meter, found, auto=auto))


def _all(policy: Policy, at: Spec, meter: Meter | None, found: Range | None, *, auto: bool) -> Iterator[Diagnostic]:
    if not auto:
        yield Diagnostic("auto-off", "automatic compaction is off; only /compact works", "warning", ("auto",))
    if at.default_overrode is not None:
        yield _overridden(policy, at)
    if meter is None:
        yield Diagnostic("unmeasured", "the session could not be measured; its token numbers are unknown", "warning")
        return
    fixed = meter.fixed
    if fixed is not None:
        yield from _room(policy, at, fixed)
    if found is None and meter.total >= at.threshold:
        yield Diagnostic(
            "no-safe-range",
            "the trigger is reached, but there is no safe cut before the retained tail",
            "warning",
            (_retention(policy),),
        )


def _room(policy: Policy, at: Spec, fixed: int) -> Iterator[Diagnostic]:
    """Whether what no compaction removes, what it keeps, and the summary leave room below the trigger."""
    if fixed >= at.threshold:
        yield Diagnostic(
            "fixed-prefix",
            f"system prompt and tools alone take {fixed} tokens; no compaction gets below the trigger of {at.threshold}",
            "error", _raising(at),
        )  # fmt: skip
    elif fixed + at.retain >= at.threshold:
        yield Diagnostic(
            "fixed-plus-retained",
            f"fixed prefix {fixed} and retained tail {at.retain} reach the trigger {at.threshold} by themselves",
            "error", (_retention(policy), *_raising(at)),
        )  # fmt: skip
    elif fixed + at.retain + FRAMING + policy.max_tokens.value >= at.threshold:
        yield Diagnostic(
            "summary-may-refill",
            f"with a summary of full length ({policy.max_tokens.value}) the context would stand at the trigger {at.threshold} again",
            "warning", ("maxTokens", _retention(policy), *_raising(at)),
        )  # fmt: skip


def _raising(at: Spec) -> tuple[str, ...]:
    """The settings that raise the trigger: the bound that won comes first."""
    return ("headroomTokens", "thresholdRatio") if at.winner == "headroom" else ("thresholdRatio", "headroomTokens")


def _retention(policy: Policy) -> str:
    return "retainTokens" if policy.retention.form == "tokens" else "retainRatio"


def _overridden(policy: Policy, at: Spec) -> Diagnostic:
    if at.default_overrode == "thresholdRatio":
        text = (
            f"the set thresholdRatio {policy.threshold_ratio.value} would give {at.ratio_term:.0f}, but the default headroom"
            f" {policy.headroom_tokens.value} with the output reserve {at.reserve.tokens} lowers the trigger to {at.threshold}"
        )
        return Diagnostic("default-won", text, "warning", ("headroomTokens",))
    text = (
        f"the set headroomTokens {policy.headroom_tokens.value} would give {at.pressure_budget}, but the default thresholdRatio"
        f" {policy.threshold_ratio.value} lowers the trigger to {at.threshold}"
    )
    return Diagnostic("default-won", text, "warning", ("thresholdRatio",))
