"""Profiles of a team: the default one, and which one a session runs under."""

from __future__ import annotations

from django.db import IntegrityError, transaction

from compaction.models import Profile
from dshweb.access.callers import Caller
from dshweb.access.models import Team
from dshweb.access.selectors import home_first

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


def default_for(caller: Caller) -> Profile | None:
    """The default profile of the caller's default team (DECISIONS 7), read only; None: in no team, or none is there."""
    teams = home_first(Team.objects.filter(pk__in=caller.team_ids).order_by("pk"), caller.user)
    return Profile.objects.for_team(teams[0]).filter(is_default=True).first() if teams else None
