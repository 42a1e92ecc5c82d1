"""From a settings document to what holds: every value with where it came from, and the policy for one model route.

Rule: COMPACTION §1 «Policy inheritance» (DSH 0.2.1-rc.2) and §11. A model policy matches by exact provider and model;
it replaces the retention form completely; its headroom gives its `maxTokens` only while the profile sets none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, Literal, TypeAlias, TypeVar

from compaction.core.keys import (
    ALL_KEYS,
    DEFAULT_HEADROOM_TOKENS,
    DEFAULT_RETAIN_RATIO,
    DEFAULT_THRESHOLD_RATIO,
    POLICY_KEYS,
    Document,
    strip_enhanced,
)
from compaction.core.numbers import is_integer, is_number, whole
from compaction.core.problem import InvalidSettings, Problem
from compaction.core.rules_enhanced import enhanced_problems
from compaction.core.rules_native import refusal

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
        own = next((one for one in self.overrides if one["provider"] == provider and one["model"] == model), {})
        return _laid_over(self.policy, own, "policy", provider, model)


def problems_of(document: object) -> tuple[Problem, ...]:
    """Why a document cannot be resolved (native rules after stripping, and the enhanced keys' own); empty if it can."""
    found = enhanced_problems(document) if isinstance(document, Mapping) else ()
    native = refusal(strip_enhanced(document) if isinstance(document, Mapping) else document, ALL_KEYS)
    return found if native is None else (*found, native)


def resolve(document: Document) -> Settings:
    """Resolve a document. Raises InvalidSettings when a rule refuses it (both rule sets' common floor: native)."""
    if problems := problems_of(document):
        raise InvalidSettings(problems)
    return Settings(
        mode=_text(document, "mode", Sourced("goal", "default")),
        auto=_flag(document, "auto"),
        reasoning_effort=_text(document, "reasoningEffort", Sourced("", "default")),
        cache_priority=_flag(document, "cachePriority"),
        policy=_laid_over(_DEFAULTS, document, "profile"),
        overrides=_overrides(document),
    )


_DEFAULTS = Policy(
    provider=None,
    model=None,
    threshold_ratio=Sourced(DEFAULT_THRESHOLD_RATIO, "default"),
    headroom_tokens=Sourced(DEFAULT_HEADROOM_TOKENS, "default"),
    retention=Retention("ratio", DEFAULT_RETAIN_RATIO, "default"),
    summarization_provider=Sourced("", "default"),
    summarization_model=Sourced("", "default"),
    max_tokens=Sourced(DEFAULT_HEADROOM_TOKENS, "headroomTokens"),
    compaction_retries=Sourced(1, "default"),
    max_overflow_retries=Sourced(1, "default"),
)


def _overrides(document: Document) -> tuple[Mapping[str, object], ...]:
    raw = document.get("modelPolicies")
    return tuple(
        {key: _plain(item[key]) for key in POLICY_KEYS if key in item} for item in (raw if isinstance(raw, list | tuple) else ())
    )  # fmt: skip


def _laid_over(
    base: Policy, own: Mapping[str, object], scope: Scope, provider: str | None = None, model: str | None = None
) -> Policy:
    """What holds where the keys of `own` are set and `base` says the rest."""
    headroom = _number(own, "headroomTokens", base.headroom_tokens, scope)
    cap = Sourced(headroom.value, "headroomTokens", scope) if _follows_headroom(own, base) else base.max_tokens
    ratio = own.get("thresholdRatio")
    return Policy(
        provider=provider,
        model=model,
        threshold_ratio=Sourced(float(ratio), "set", scope) if is_number(ratio) else base.threshold_ratio,
        headroom_tokens=headroom,
        retention=_retention(own, scope) or base.retention,
        summarization_provider=_text(own, "summarizationProvider", base.summarization_provider, scope),
        summarization_model=_text(own, "summarizationModel", base.summarization_model, scope),
        max_tokens=_number(own, "maxTokens", cap, scope),
        compaction_retries=_number(own, "compactionRetries", base.compaction_retries, scope),
        max_overflow_retries=_number(own, "maxOverflowRetries", base.max_overflow_retries, scope),
    )


def _follows_headroom(own: Mapping[str, object], base: Policy) -> bool:
    return "maxTokens" not in own and "headroomTokens" in own and base.max_tokens.origin != "set"


def overrides_shown(settings: Settings) -> list[dict[str, object]]:
    """The model policies as the harness holds them: stored fields, with `maxTokens` filled in where it follows headroom."""
    return [
        {**own, "maxTokens": own["headroomTokens"]} if _follows_headroom(own, settings.policy) else dict(own)
        for own in settings.overrides
    ]


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


def _number(own: Mapping[str, object], name: str, base: Sourced[int], scope: Scope) -> Sourced[int]:
    value = own.get(name)
    return Sourced(whole(value), "set", scope) if is_number(value) else base


def _text(own: Mapping[str, object], name: str, base: Sourced[str], scope: Scope = "profile") -> Sourced[str]:
    value = own.get(name)
    return Sourced(value, "set", scope) if isinstance(value, str) else base


def _flag(document: Document, name: str) -> Sourced[bool]:
    value = document.get(name)
    return Sourced(value, "set") if isinstance(value, bool) else Sourced(value=True, origin="default")
