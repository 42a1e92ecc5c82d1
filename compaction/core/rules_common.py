"""Checks and findings that the harness's rules and the form's share: same code, same words.

Rule: COMPACTION §1 for what is checked; the wording is ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compaction.core.keys import BY_NAME, Kind
from compaction.core.numbers import is_integer, is_number
from compaction.core.problem import Problem, shown

_LOWEST: Mapping[Kind, int] = {"count": 0, "positive": 1}


def is_count(value: object, kind: Kind) -> bool:
    """Whether a value is a whole number that a `count` or a `positive` may be."""
    return is_integer(value) and value >= _LOWEST[kind]


def wrong_kind(value: object, name: str, prefix: str) -> Iterator[Problem]:
    """The finding for a value that is no text, no number or no whole number where its key wants one."""
    kind, path = BY_NAME[name].kind, prefix + name
    if kind == "text":
        if not isinstance(value, str):
            yield Problem(path, "not-a-text", f"{path} must be a text, not {shown(value)}")
    elif not is_number(value):
        hint = " (a text, not a number: take the quotes away)" if isinstance(value, str) else ""
        yield Problem(path, "not-a-number", f"{path} must be a number, not {shown(value)}{hint}")
    elif kind in _LOWEST and not is_count(value, kind):
        yield not_whole(path, kind, value)


def not_whole(path: str, kind: Kind, value: object) -> Problem:
    return Problem(
        path, "not-a-whole-number", f"{path} must be a whole number, {_LOWEST[kind]} or more, not {shown(value)}"
    )


def retain_ratio(fields: Mapping[str, object], fallback: object) -> object:
    """The ratio that would hold in this scope; None when tokens are set there."""
    return None if "retainTokens" in fields else fields.get("retainRatio", fallback)


def not_below(path: str, retain: object, threshold: object) -> Iterator[Problem]:
    """The finding for a retained share that reaches the trigger; nothing when one of the two is no number."""
    if is_number(retain) and is_number(threshold) and retain >= threshold:
        yield Problem(
            path, "retain-not-below-threshold", f"{path} ({shown(retain)}) must be below the resolved thresholdRatio ({shown(threshold)})"
        )  # fmt: skip


def both_retentions(prefix: str) -> Problem:
    return Problem(
        f"{prefix}retainTokens",
        "both-retentions",
        f"{prefix}retainRatio and {prefix}retainTokens exclude each other; keep one",
    )


def half_pair(prefix: str) -> Problem:
    return Problem(
        f"{prefix}summarizationModel",
        "half-pair",
        f"{prefix}summarizationProvider and {prefix}summarizationModel go together: both empty, or both filled",
    )


def duplicate(path: str, policy: Mapping[str, object]) -> Problem:
    route = f"{policy.get('provider')}/{policy.get('model')}"
    return Problem(path, "duplicate-policy", f"{path}: there is already a policy for {shown(route)}")


def no_output_cap(path: str) -> Problem:
    return Problem(
        path, "no-output-cap", f"{path} must be 1 or more; it follows headroomTokens unless set, so headroom 0 needs an explicit maxTokens"
    )  # fmt: skip
