"""The masker in force for a team: the built-in list and the team's own patterns."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import lru_cache

from dshweb.sessionlog.models import MaskPattern
from dshweb.text.redact import Masker, Pattern, PatternError, compile_pattern

log = logging.getLogger(__name__)


def masker_for(team_id: int) -> Masker:
    """Compiled once per list of patterns. A stored pattern that no longer compiles is left out and logged, never fatal."""
    return maskers_for([team_id])[team_id]


def maskers_for(team_ids: Iterable[int]) -> dict[int, Masker]:
    """The same for several teams, by team id, with one query."""
    lists: dict[int, list[tuple[str, str]]] = {team: [] for team in team_ids}
    rows = MaskPattern.unscoped.filter(team__in=lists, enabled=True).order_by("name")
    for team, name, expression in rows.values_list("team", "name", "expression"):
        lists[team].append((name, expression))
    return {team: _masker(tuple(patterns)) for team, patterns in lists.items()}


@lru_cache(maxsize=32)
def _masker(patterns: tuple[tuple[str, str], ...]) -> Masker:
    usable = []
    for name, expression in patterns:
        try:
            compile_pattern(expression)
        except PatternError as error:
            log.error("masking pattern %s is left out: %s", name, error)
        else:
            usable.append(Pattern(name, expression))
    return Masker(usable)
