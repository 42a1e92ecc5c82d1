"""What our engine holds of the settings: a frozen snapshot a profile, taken when a worker starts.

Rule: DECISIONS 8, COMPACTION §18 (`activeConfig`, `requiresReload`). Saving changes what is stored, never what is held.
"""

from __future__ import annotations

import logging

from django.utils import timezone

from compaction.core.document import normalised
from compaction.core.policy import resolve
from compaction.core.problem import InvalidSettings
from compaction.models import EngineSnapshot, Profile

log = logging.getLogger(__name__)


def take_snapshots() -> int:
    """Takes the saved settings of every profile of the installation as what the engine goes by from now on; how many."""
    return sum(take(profile) for profile in Profile.unscoped.order_by("pk"))


def take(profile: Profile) -> bool:
    """The snapshot of one profile. False: its document does not resolve, and the engine keeps what it held."""
    try:
        config = normalised(resolve(profile.document))
    except InvalidSettings as error:
        log.error("profile %s: its settings are not used: %s", profile.pk, error)
        return False
    EngineSnapshot.unscoped.update_or_create(
        profile=profile,
        defaults={
            "team_id": profile.team_id,
            "revision": profile.revision,
            "config": config,
            "taken_at": timezone.now(),
        },
    )
    return True
