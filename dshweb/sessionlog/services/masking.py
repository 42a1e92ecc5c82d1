"""The masker in force for a team: the built-in list and the team's own patterns."""

from __future__ import annotations

import logging
from functools import lru_cache

from dshweb.sessionlog.models import MaskPattern
from dshweb.text.redact import Masker, Pattern, PatternError, compile_pattern

log = logging.getLogger(__name__)


def masker_for(team_id: int) -> Masker:
    """Compiled once per list of patterns. A stored pattern that no longer compiles is left out and logged, never fatal."""
    rows = MaskPattern.objects.for_team(team_id).filter(enabled=True).order_by("name").values_list("name", "expression")
    return _masker(tuple(rows))


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
