"""The default profile of a team."""

from __future__ import annotations

from django.db import IntegrityError, transaction

from compaction.models import Profile
from dshweb.access.models import Team

DEFAULT_NAME = "default"


def default_of(team: Team | int) -> Profile:
    """The team's default profile; made where there is none yet."""
    team_id = team if isinstance(team, int) else team.pk
    found = Profile.objects.for_team(team_id).filter(is_default=True).first()
    if found is None:
        try:
            with transaction.atomic():
                found, _made = Profile.unscoped.update_or_create(
                    team_id=team_id, name=DEFAULT_NAME, machine="", defaults={"is_default": True}
                )
        except IntegrityError:  # somebody else has just made it
            found = Profile.objects.for_team(team_id).get(is_default=True)
    return found
