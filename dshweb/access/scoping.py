"""Rows belong to teams, and a query cannot forget it.

A model of a team inherits `TeamOwned`. `Model.objects` answers nothing until it is told for whom
(`for_caller(caller)` or `for_team(team)`); asking without raises `NoCaller`. Services, the admin and migrations,
which act for the whole installation, say so by using `Model.unscoped` – one word to look for in a review.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import models

if TYPE_CHECKING:
    from dshweb.access.callers import Caller
    from dshweb.access.models import Team


class NoCaller(RuntimeError):
    """A query on team-owned rows that did not say for whom."""


class ScopedManager(models.Manager):
    """`objects` of a team-owned model: two ways in, everything else raises."""

    def get_queryset(self) -> models.QuerySet:
        raise NoCaller(
            f"{self.model.__name__}.objects: say for whom – for_caller(caller) or for_team(team); "
            f"code that acts for the whole installation uses {self.model.__name__}.unscoped"
        )

    def for_team(self, team: Team | int) -> models.QuerySet:
        return self.model.unscoped.filter(team=team)  # type: ignore[attr-defined]

    def for_caller(self, caller: Caller) -> models.QuerySet:
        """Rows of the teams the caller is a member of (a token: of its one team)."""
        return self.model.unscoped.filter(team__in=caller.team_ids)  # type: ignore[attr-defined]


class TeamOwned(models.Model):
    """Base of every model whose rows belong to a team."""

    team = models.ForeignKey("access.Team", on_delete=models.CASCADE, related_name="+")

    unscoped = models.Manager()
    objects: Any = ScopedManager()

    class Meta:
        abstract = True
        default_manager_name = "unscoped"
        base_manager_name = "unscoped"
