"""What profiles pages and calls show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from compaction.core.document import normalised, requires_reload
from compaction.core.formula import NoSpec, Spec, spec
from compaction.core.policy import Settings, resolve
from compaction.core.problem import InvalidSettings, Problem
from compaction.core.rules_routes import Route
from compaction.models import EngineSnapshot, Profile, SettingsRevision
from compaction.services import catalogue
from compaction.services.settings import judge
from dshweb.access.callers import Caller


@dataclass(frozen=True, slots=True)
class Standing:
    """A profile's settings as saved and as held. `effective` None: the saved document does not resolve.

    `origins`: where each of its values came from: `set`, `default`, or `headroomTokens` (an output cap that follows it).
    """

    profile: Profile
    snapshot: EngineSnapshot | None
    effective: dict[str, Any] | None
    origins: dict[str, str]
    requires_reload: bool
    problems: tuple[Problem, ...]
    triggers: tuple[Trigger, ...]


@dataclass(frozen=True, slots=True)
class Trigger:
    """The pressure formula for one route: a model that may be chosen, or one with settings of its own."""

    provider: str
    model: str
    route: Route
    worked_out: Spec | NoSpec


def profiles(caller: Caller) -> QuerySet[Profile]:
    return Profile.objects.for_caller(caller).select_related("team", "changed_by", "snapshot")


def reload_needed(profile: Profile) -> bool:
    """Whether the engine holds something else than what is saved. False while it holds nothing."""
    snapshot = getattr(profile, "snapshot", None)
    return snapshot is not None and requires_reload(profile.document, snapshot.config)


def standing(profile: Profile) -> Standing:
    """A fixed number of queries; `profile` from `profiles`, or its snapshot is asked for."""
    snapshot = getattr(profile, "snapshot", None)
    known = catalogue.Routes(profile.team_id)
    try:
        settings = resolve(profile.document)
    except InvalidSettings:
        settings = None
    return Standing(
        profile,
        snapshot,
        normalised(settings) if settings else None,
        _origins(settings) if settings else {},
        reload_needed(profile),
        judge(profile.document, known),
        tuple(_triggers(settings, known)) if settings else (),
    )


def _origins(settings: Settings) -> dict[str, str]:
    policy = settings.policy
    retention = "retainTokens" if policy.retention.form == "tokens" else "retainRatio"
    return {
        "mode": settings.mode.origin,
        "auto": settings.auto.origin,
        "thresholdRatio": policy.threshold_ratio.origin,
        "headroomTokens": policy.headroom_tokens.origin,
        retention: policy.retention.origin,
        "summarizationProvider": policy.summarization_provider.origin,
        "summarizationModel": policy.summarization_model.origin,
        "reasoningEffort": settings.reasoning_effort.origin,
        "cachePriority": settings.cache_priority.origin,
        "maxTokens": policy.max_tokens.origin,
        "compactionRetries": policy.compaction_retries.origin,
        "maxOverflowRetries": policy.max_overflow_retries.origin,
        "modelPolicies": "set" if settings.overrides else "default",
    }


def _triggers(settings: Settings, known: catalogue.Routes) -> Iterator[Trigger]:
    own = [(str(one["provider"]), str(one["model"])) for one in settings.overrides]
    for provider, model in dict.fromkeys((*known.allowed(), *own)):
        route = known(provider, model) or Route()
        yield Trigger(provider, model, route, spec(settings.for_route(provider, model), route.window, route.reserve))


def history(profile: Profile) -> QuerySet[SettingsRevision]:
    """Its revisions; order them."""
    return SettingsRevision.objects.for_team(profile.team_id).filter(profile=profile).select_related("author")
