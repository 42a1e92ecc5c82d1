"""The settings a compaction profile may hold: names, kinds, defaults, and which rule set knows which.

Rule: COMPACTION §1 (native keys, DSH 0.2.1-rc.2) and §11 (keys of better-compact); order: the inspect body of §18.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Document: TypeAlias = Mapping[str, object]
"""A settings document: key → JSON value. Absent means «not set»; null is a value (and refused for most keys)."""

Kind: TypeAlias = Literal["ratio", "count", "positive", "text", "flag", "mode", "policies"]

DEFAULT_THRESHOLD_RATIO = 0.8
DEFAULT_HEADROOM_TOKENS = 65_536
DEFAULT_RETAIN_RATIO = 0.16
MODES = ("native", "goal", "handoff")


@dataclass(frozen=True, slots=True)
class Key:
    """One setting.

    `default` None: no fixed default (`retainTokens` is simply absent, `maxTokens` follows the resolved headroom).
    `native`: the harness's own engine knows it. `in_policy`: may stand inside an entry of `modelPolicies`.
    """

    name: str
    kind: Kind
    default: object
    native: bool = True
    in_policy: bool = True


KEYS: tuple[Key, ...] = (
    Key("mode", "mode", "goal", native=False, in_policy=False),
    Key("auto", "flag", True, in_policy=False),  # noqa: FBT003 - a default, not a flag argument
    Key("thresholdRatio", "ratio", DEFAULT_THRESHOLD_RATIO),
    Key("headroomTokens", "count", DEFAULT_HEADROOM_TOKENS),
    Key("retainRatio", "ratio", DEFAULT_RETAIN_RATIO),
    Key("retainTokens", "count", None),
    Key("summarizationProvider", "text", ""),
    Key("summarizationModel", "text", ""),
    Key("reasoningEffort", "text", "", native=False, in_policy=False),
    Key("cachePriority", "flag", True, native=False, in_policy=False),  # noqa: FBT003
    Key("maxTokens", "positive", None),
    Key("compactionRetries", "count", 1),
    Key("maxOverflowRetries", "count", 1),
    Key("modelPolicies", "policies", (), in_policy=False),
)

BY_NAME: Mapping[str, Key] = {key.name: key for key in KEYS}
ALL_KEYS: tuple[str, ...] = tuple(key.name for key in KEYS)
NATIVE_KEYS: tuple[str, ...] = tuple(key.name for key in KEYS if key.native)
ENHANCED_KEYS: tuple[str, ...] = tuple(key.name for key in KEYS if not key.native)
POLICY_FIELDS: tuple[str, ...] = tuple(key.name for key in KEYS if key.in_policy)
POLICY_KEYS: tuple[str, ...] = ("provider", "model", *POLICY_FIELDS)

RETENTION = ("retainRatio", "retainTokens")
"""Two forms of one setting: at most one of them in a scope."""

PAIR = ("summarizationProvider", "summarizationModel")
"""One setting in two keys: both absent, both empty, or both filled."""


def strip_enhanced(document: Document) -> dict[str, object]:
    """The document without the keys the native engine does not know (they are removed before it looks)."""
    return {name: value for name, value in document.items() if name not in ENHANCED_KEYS}
