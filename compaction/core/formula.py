"""The pressure formula: from a policy and a model's capacity to the trigger and the retained tail, term by term.

Rule: COMPACTION §2 and §6. Arithmetic in IEEE doubles, floored once, as the harness does it. Field reports 016, 017,
019, 020: say which bound won, never show an unknown as 0, never let a default beat a set value unsaid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from compaction.core.numbers import double, is_integer, whole
from compaction.core.policy import Policy

Winner: TypeAlias = Literal["ratio", "headroom", "both"]
ReserveOrigin: TypeAlias = Literal["request", "adapter", "none-declared", "unknown"]
Trigger: TypeAlias = Literal["automatic", "manual", "overflow"]


@dataclass(frozen=True, slots=True)
class Reserve:
    """Output tokens that a routed request keeps free in the window; `tokens` None: nobody told us."""

    tokens: int | None
    origin: ReserveOrigin


@dataclass(frozen=True, slots=True)
class Spec:
    """The formula worked out. All figures in tokens; `ratio_term` is the bound before the floor."""

    window: int
    reserve: Reserve
    message_budget: int
    pressure_budget: int
    ratio_term: float
    threshold: int
    winner: Winner
    retain: int
    default_overrode: str | None
    """The set key whose bound lost to a bound made only of a default (`thresholdRatio`), else None."""


@dataclass(frozen=True, slots=True)
class NoSpec:
    """No usable trigger. `code` is stable; `unknown`: an input is missing (nothing is wrong with the settings).

    `terms`: the figures that could be worked out, for the page that explains it.
    """

    code: Literal[
        "window-unknown", "reserve-unknown", "bad-window", "bad-reserve", "no-message-budget", "no-pressure-budget",
        "retain-not-below-threshold",
    ]  # fmt: skip
    message: str
    unknown: bool = False
    terms: tuple[tuple[str, int | float], ...] = ()
    controls: tuple[str, ...] = ()
    """The settings that would help, most direct first."""


def reserve(request_max_tokens: int | None, adapter_default: int | None, *, adapter_known: bool) -> Reserve:
    """The reserved completion tokens: the latest header's `config.maxTokens`, else the adapter's default, else 0.

    `adapter_known` False (the model is not in the catalogue): no figure from either side is unknown, not 0.
    """
    if request_max_tokens is not None:
        return Reserve(request_max_tokens, "request")
    if adapter_default is not None:
        return Reserve(adapter_default, "adapter")
    return Reserve(0, "none-declared") if adapter_known else Reserve(None, "unknown")


def spec(policy: Policy, window: int | float | None, kept_free: Reserve) -> Spec | NoSpec:
    """Trigger and retained tail of a policy on a window of `window` tokens with `kept_free` reserved for the answer."""
    if window is None:
        return NoSpec("window-unknown", "the model's context window is unknown", unknown=True)
    if not is_integer(window) or window <= 0:
        return NoSpec("bad-window", f"the context window ({window}) must be a whole number above 0")
    w, o = whole(window), kept_free.tokens
    ratio_term = double(w) * policy.threshold_ratio.value
    if o is None:
        return NoSpec(
            "reserve-unknown", "how many tokens the model may answer with is unknown, so the trigger is too",
            unknown=True, terms=(("ratioTerm", ratio_term),),
        )  # fmt: skip
    if not is_integer(o) or o < 0:
        return NoSpec("bad-reserve", f"the output reserve ({o}) must be a whole number, 0 or more")
    message_budget = w - whole(o)
    headroom = policy.headroom_tokens.value
    pressure_budget = message_budget - headroom
    terms: tuple[tuple[str, int | float], ...] = (
        ("ratioTerm", ratio_term), ("messageBudget", message_budget), ("pressureBudget", pressure_budget),
    )  # fmt: skip
    if message_budget <= 0:
        return NoSpec(
            "no-message-budget",
            f"no usable trigger: the answer's reserve of {o} tokens takes the whole window of {w}",
            terms=terms, controls=("contextWindow", "defaultMaxTokens"),
        )  # fmt: skip
    if pressure_budget <= 0:
        return NoSpec(
            "no-pressure-budget",
            f"no usable trigger: reserve {o} and headroom {headroom} take the whole window of {w}",
            terms=terms, controls=("headroomTokens", "contextWindow", "defaultMaxTokens"),
        )  # fmt: skip
    threshold = math.floor(min(ratio_term, pressure_budget))
    retain = _retain(policy, message_budget)
    if retain >= threshold:
        return NoSpec(
            "retain-not-below-threshold",
            f"no usable trigger: the retained tail of {retain} tokens is not below the trigger of {threshold}",
            terms=(*terms, ("threshold", threshold), ("retain", retain)),
            controls=("retainTokens" if policy.retention.form == "tokens" else "retainRatio", "thresholdRatio", "headroomTokens"),
        )  # fmt: skip
    winner: Winner = (
        "both" if ratio_term == pressure_budget else "ratio" if ratio_term < pressure_budget else "headroom"
    )
    return Spec(
        window=w, reserve=Reserve(whole(o), kept_free.origin), message_budget=message_budget,
        pressure_budget=pressure_budget, ratio_term=ratio_term, threshold=threshold, winner=winner, retain=retain,
        default_overrode=_overrode(policy, winner),
    )  # fmt: skip


def _retain(policy: Policy, message_budget: int) -> int:
    if policy.retention.form == "tokens":
        return whole(policy.retention.value)
    return math.floor(double(message_budget) * policy.retention.value)


def _overrode(policy: Policy, winner: Winner) -> str | None:
    if winner == "headroom" and policy.headroom_tokens.origin == "default" and policy.threshold_ratio.origin == "set":
        return "thresholdRatio"
    if winner == "ratio" and policy.threshold_ratio.origin == "default" and policy.headroom_tokens.origin == "set":
        return "headroomTokens"
    return None


def retained_for(trigger: Trigger, worked_out: Spec) -> int:
    """The tail kept at one kind of compaction: the policy's at pressure; manual and overflow keep as little as is balanced."""
    return worked_out.retain if trigger == "automatic" else 0
