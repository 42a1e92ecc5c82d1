"""The policy a team audits by: newest version, or the defaults while there is none."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef

from audit.core.fingerprint import config_fp
from audit.core.policy import Policy
from audit.core.vocabulary import parse_vocabulary
from audit.models import PolicyVersion, VocabularyTerm
from dshweb.access.models import Team, User
from dshweb.sessionlog.services.masking import maskers_for

EDITABLE = (
    "check_compliance",
    "extended_classes",
    "critical_number_count",
    "max_facts_per_category",
    "family_min",
    "tool_only_max",
)


def current(*, team_id: int) -> tuple[PolicyVersion | None, Policy]:
    """The newest version's row (None: never edited, defaults hold) and the policy as the core takes it."""
    return _current([team_id])[team_id]


def in_force(team_ids: Iterable[int]) -> dict[int, str]:
    """The configuration (`configFp`) each of these teams audits by now, by team id. Two queries, whatever the number."""
    return {team: config_fp(policy) for team, (_row, policy) in _current(set(team_ids)).items()}


def _current(team_ids: Collection[int]) -> dict[int, tuple[PolicyVersion | None, Policy]]:
    newer = PolicyVersion.unscoped.filter(team=OuterRef("team"), version__gt=OuterRef("version"))
    rows = {row.team_id: row for row in PolicyVersion.unscoped.filter(~Exists(newer), team__in=team_ids)}
    maskers = maskers_for(team_ids)
    return {team: (rows.get(team), _policy(rows.get(team), maskers[team].version)) for team in team_ids}


def _policy(row: PolicyVersion | None, masking: str) -> Policy:
    if row is None:
        return Policy(masking=masking)
    vocabulary = parse_vocabulary(json.dumps(row.vocabulary))
    return Policy(**{name: getattr(row, name) for name in EDITABLE}, vocabulary=vocabulary, masking=masking)


def publish(*, team: Team, by: User | None, note: str = "", **changes: Any) -> PolicyVersion:
    """Adds the next version: the newest one's values with `changes`, and the vocabulary as it stands now.

    Two admins who publish at once get two versions: the unique constraint makes the second try again.
    """
    for _attempt in range(5):
        last = PolicyVersion.objects.for_team(team).order_by("-version").first()
        values = {name: getattr(last, name) for name in EDITABLE} if last else {}
        try:
            with transaction.atomic():
                return PolicyVersion.unscoped.create(
                    team=team,
                    version=(last.version if last else 0) + 1,
                    vocabulary=vocabulary_of(team),
                    note=note,
                    created_by=by,
                    **(values | changes),
                )
        except IntegrityError:
            continue
    raise RuntimeError("the policy is being edited by several people at once; nothing was changed, try again")


def changed(values: dict[str, Any], base: PolicyVersion | None) -> dict[str, Any]:
    """Those of `values` that are not what `base` has (None: the defaults). Only they are a person's decision."""
    start = base or PolicyVersion()
    return {name: value for name, value in values.items() if value != getattr(start, name)}


def vocabulary_of(team: Team) -> dict[str, list[str]]:
    terms = VocabularyTerm.objects.for_team(team).order_by("list", "term").values_list("list", "term")
    lists: dict[str, list[str]] = {"keep": [], "drop": [], "scope": []}
    for name, term in terms:
        lists[name].append(term)
    return lists
