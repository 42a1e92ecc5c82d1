"""What profiles pages and calls show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from compaction.core.document import normalised, requires_reload
from compaction.core.policy import Settings, resolve
from compaction.core.problem import InvalidSettings, Problem
from compaction.models import EngineSnapshot, Profile, SettingsRevision
from compaction.services.settings import judge
from dshweb.access.callers import Caller


@dataclass(frozen=True, slots=True)
class Standing:
    """A profile's settings as saved and as held. `effective` None: the saved document does not resolve.

    `settings`: the same resolved, each value with where it came from.
    """

    profile: Profile
    snapshot: EngineSnapshot | None
    effective: dict[str, Any] | None
    settings: Settings | None
    requires_reload: bool
    problems: tuple[Problem, ...]


def profiles(caller: Caller) -> QuerySet[Profile]:
    return Profile.objects.for_caller(caller).select_related("team", "changed_by", "snapshot")


def reload_needed(profile: Profile) -> bool:
    """Whether the engine holds something else than what is saved. False while it holds nothing."""
    snapshot = getattr(profile, "snapshot", None)
    return snapshot is not None and requires_reload(profile.document, snapshot.config)


def standing(profile: Profile) -> Standing:
    """A fixed number of queries; `profile` from `profiles`, or its snapshot is asked for."""
    snapshot = getattr(profile, "snapshot", None)
    try:
        settings = resolve(profile.document)
    except InvalidSettings:
        settings = None
    return Standing(
        profile,
        snapshot,
        normalised(settings) if settings else None,
        settings,
        reload_needed(profile),
        judge(profile.document, profile.team_id),
    )


def history(profile: Profile) -> QuerySet[SettingsRevision]:
    """Its revisions; order them."""
    return SettingsRevision.objects.for_team(profile.team_id).filter(profile=profile).select_related("author")
