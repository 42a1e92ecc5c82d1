"""From a settings document to what holds: every value with where it came from, and the policy for one model route.

Rule: COMPACTION §1 «Policy inheritance» (DSH 0.2.1-rc.2) and §11. A model policy matches by exact provider and model;
it replaces the retention form completely; its headroom gives its `maxTokens` only while the profile sets none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, Literal, TypeAlias, TypeVar

from compaction.core.keys import (
    DEFAULT_HEADROOM_TOKENS,
    DEFAULT_RETAIN_RATIO,
    DEFAULT_THRESHOLD_RATIO,
    ENHANCED_KEYS,
    POLICY_FIELDS,
    Document,
    strip_enhanced,
)
from compaction.core.numbers import is_integer, is_number, whole
from compaction.core.problem import InvalidSettings, Problem
from compaction.core.rules_enhanced import enhanced_problems
from compaction.core.rules_native import INHERITED, refusal

T = TypeVar("T")
Origin: TypeAlias = Literal["set", "default", "headroomTokens"]
Scope: TypeAlias = Literal["profile", "policy"]


@dataclass(frozen=True, slots=True)
class Sourced(Generic[T]):
    """A value and where it came from: set by someone, the default, or (for maxTokens) taken from headroomTokens."""

    value: T
    origin: Origin
    scope: Scope = "profile"


@dataclass(frozen=True, slots=True)
class Retention:
    """How much recent history automatic compaction keeps: a share of the message budget, or a number of tokens."""

    form: Literal["ratio", "tokens"]
    value: int | float
    origin: Origin
    scope: Scope = "profile"


@dataclass(frozen=True, slots=True)
class Policy:
    """The settings that hold for one route, or (provider and model None) for every route without its own policy."""

    provider: str | None
    model: str | None
    threshold_ratio: Sourced[float]
    headroom_tokens: Sourced[int]
    retention: Retention
    summarization_provider: Sourced[str]
    summarization_model: Sourced[str]
    max_tokens: Sourced[int]
    compaction_retries: Sourced[int]
    max_overflow_retries: Sourced[int]


@dataclass(frozen=True, slots=True)
class Settings:
    """A document resolved: the enhanced keys, the profile-wide policy, and the exact-route policies as stored."""

    mode: Sourced[str]
    auto: Sourced[bool]
    reasoning_effort: Sourced[str]
    cache_priority: Sourced[bool]
    policy: Policy
    overrides: tuple[Mapping[str, object], ...]

    def for_route(self, provider: str, model: str) -> Policy:
        """The policy for a routed model; exact, case-sensitive match, else the profile-wide one under that name."""
        for override in self.overrides:
            if override["provider"] == provider and override["model"] == model:
                return _merged(self.policy, override, provider, model)
        return _merged(self.policy, {}, provider, model)


def problems_of(document: object) -> tuple[Problem, ...]:
    """Why a document cannot be resolved (native rules after stripping, and the enhanced keys' own); empty if it can."""
    found = enhanced_problems(document) if isinstance(document, Mapping) else ()
    native = refusal(strip_enhanced(document) if isinstance(document, Mapping) else document)
    return found if native is None else (*found, native)


def resolve(document: Document) -> Settings:
    """Resolve a document. Raises InvalidSettings when a rule refuses it (both rule sets' common floor: native)."""
    if problems := problems_of(document):
        raise InvalidSettings(problems)
    headroom = _number(document, "headroomTokens", DEFAULT_HEADROOM_TOKENS)
    profile = Policy(
        provider=None,
        model=None,
        threshold_ratio=_ratio(document, "thresholdRatio", DEFAULT_THRESHOLD_RATIO),
        headroom_tokens=headroom,
        retention=_retention(document, "profile") or Retention("ratio", DEFAULT_RETAIN_RATIO, "default"),
        summarization_provider=_text(document, "summarizationProvider", ""),
        summarization_model=_text(document, "summarizationModel", ""),
        max_tokens=_number(document, "maxTokens", headroom.value, "headroomTokens"),
        compaction_retries=_number(document, "compactionRetries", 1),
        max_overflow_retries=_number(document, "maxOverflowRetries", 1),
    )
    return Settings(
        mode=_text(document, "mode", "goal"),
        auto=_flag(document, "auto"),
        reasoning_effort=_text(document, "reasoningEffort", ""),
        cache_priority=_flag(document, "cachePriority"),
        policy=profile,
        overrides=_overrides(document, profile),
    )


def _overrides(document: Document, profile: Policy) -> tuple[Mapping[str, object], ...]:
    raw = document.get("modelPolicies")
    found: list[Mapping[str, object]] = []
    for item in raw if isinstance(raw, list | tuple) else ():
        entry = {key: _plain(item[key]) for key in ("provider", "model", *POLICY_FIELDS) if key in item}
        if "maxTokens" not in entry and "headroomTokens" in entry and profile.max_tokens.origin != "set":
            entry["maxTokens"] = entry["headroomTokens"]
            entry[_DERIVED] = True
        found.append(entry)
    return tuple(found)


_DERIVED = "\0maxTokens from headroomTokens"  # a mark beside the fields; never shown


def _merged(base: Policy, own: Mapping[str, object], provider: str, model: str) -> Policy:
    max_tokens = _own_number(own, "maxTokens", base.max_tokens)
    if own.get(_DERIVED):
        max_tokens = Sourced(max_tokens.value, "headroomTokens", "policy")
    ratio = own.get("thresholdRatio")
    return Policy(
        provider=provider,
        model=model,
        threshold_ratio=Sourced(float(ratio), "set", "policy") if is_number(ratio) else base.threshold_ratio,
        headroom_tokens=_own_number(own, "headroomTokens", base.headroom_tokens),
        retention=_retention(own, "policy") or base.retention,
        summarization_provider=_own_text(own, "summarizationProvider", base.summarization_provider),
        summarization_model=_own_text(own, "summarizationModel", base.summarization_model),
        max_tokens=max_tokens,
        compaction_retries=_own_number(own, "compactionRetries", base.compaction_retries),
        max_overflow_retries=_own_number(own, "maxOverflowRetries", base.max_overflow_retries),
    )


def overrides_shown(settings: Settings) -> list[dict[str, object]]:
    """The model policies as the harness holds them: stored fields, with `maxTokens` filled in where it follows headroom."""
    return [{key: value for key, value in entry.items() if key != _DERIVED} for entry in settings.overrides]


def ignored_keys(document: Document) -> tuple[str, ...]:
    """Top-level keys that the native rules let pass without reading them (see `rules_native.INHERITED`)."""
    return tuple(key for key in document if key in INHERITED and key not in ENHANCED_KEYS)


def _plain(value: object) -> object:
    return whole(value) if is_integer(value) else value


def _retention(fields: Mapping[str, object], scope: Scope) -> Retention | None:
    for form, name in (("tokens", "retainTokens"), ("ratio", "retainRatio")):
        value = fields.get(name)
        if is_number(value):
            if form == "tokens":
                return Retention("tokens", whole(value), "set", scope)
            return Retention("ratio", float(value), "set", scope)
    return None


def _ratio(fields: Document, name: str, default: float) -> Sourced[float]:
    value = fields.get(name)
    return Sourced(float(value), "set") if is_number(value) else Sourced(default, "default")


def _number(fields: Document, name: str, default: int, origin: Origin = "default") -> Sourced[int]:
    value = fields.get(name)
    return Sourced(whole(value), "set") if is_number(value) else Sourced(default, origin)


def _text(fields: Document, name: str, default: str) -> Sourced[str]:
    value = fields.get(name)
    return Sourced(value, "set") if isinstance(value, str) else Sourced(default, "default")


def _flag(fields: Document, name: str) -> Sourced[bool]:
    value = fields.get(name)
    return Sourced(value, "set") if isinstance(value, bool) else Sourced(value=True, origin="default")


def _own_number(own: Mapping[str, object], name: str, base: Sourced[int]) -> Sourced[int]:
    value = own.get(name)
    return Sourced(whole(value), "set", "policy") if is_number(value) else base


def _own_text(own: Mapping[str, object], name: str, base: Sourced[str]) -> Sourced[str]:
    value = own.get(name)
    return Sourced(value, "set", "policy") if isinstance(value, str) else base
