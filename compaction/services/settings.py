"""The saved settings of a profile: read, and changed by one operation list with one expected revision.

Rule: issue 4 B, DECISIONS 11 and 12. A change is one transaction that compares and sets the revision; who comes second gets
both sides and nothing is merged. What is stored always resolves (`policy.resolve`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from compaction.core.document import Change, Op, changes
from compaction.core.document import mutate as apply
from compaction.core.keys import ALL_KEYS, Document
from compaction.core.policy import problems_of, resolve
from compaction.core.problem import InvalidSettings, Problem
from compaction.core.rules_form import problems as form_problems
from compaction.core.rules_routes import Catalogue
from compaction.core.rules_routes import problems as route_problems
from compaction.models import Profile, SettingsRevision
from compaction.models.profile import Origin
from compaction.services import catalogue, keepable
from dshweb.access.models import User


@dataclass(frozen=True, slots=True)
class Saved:
    """What stands now. `changes` empty: nothing was different, and the revision is the one before."""

    profile: Profile
    changes: tuple[Change, ...]
    warnings: tuple[Problem, ...]


class Conflict(Exception):
    """Somebody saved in between; nothing was written.

    `theirs`: the profile as it stands. `base`: the document the caller started from, `yours`: what it would have become;
    both None when that revision never was, `yours` also when the operations do not fit together.
    """

    def __init__(self, expected: int, theirs: Profile, base: Document | None, yours: Document | None) -> None:
        super().__init__(f"the settings are at revision {theirs.revision}, not {expected}")
        self.expected, self.theirs, self.base, self.yours = expected, theirs, base, yours

    @property
    def actual(self) -> int:
        return self.theirs.revision


def mutate(profile: Profile | int, ops: tuple[Op, ...], expected_revision: int, *, by: User | None) -> Saved:
    """Applies the operations to the document at `expected_revision`, all or nothing.

    Raises Conflict when it is at another one, InvalidSettings when the result breaks a rule of the form or an operation is
    none, Profile.DoesNotExist when the profile is gone.
    """
    _must_be_keepable((op.key, op.value) for op in ops)  # each: the history keeps those that a later one undoes, too
    with transaction.atomic():
        row = _locked(profile)
        if row.revision != expected_revision:
            base = document_at(row, expected_revision)
            raise Conflict(expected_revision, row, base, _would_be(base, ops))
        wanted = apply(row.document, ops)
        warnings = _judged(wanted.document, row.team_id)
        if wanted.changes:
            _write(row, wanted.document, [_op_json(op) for op in ops], Origin.SAVED, by)
    return Saved(row, wanted.changes, warnings)


def replace(
    profile: Profile | int,
    document: Document,
    expected_revision: int,
    *,
    by: User | None,
    unspoken: Collection[str] = (),
) -> Saved:
    """Puts a whole document, read from a file, in the place of the saved one. The harness's own rules decide, not the form's.

    `unspoken`: keys that the file has no place for; they stay as they are saved. Raises as `mutate` does.
    """
    _must_be_keepable(document.items())
    with transaction.atomic():
        row = _locked(profile)
        if row.revision != expected_revision:
            raise Conflict(expected_revision, row, document_at(row, expected_revision), dict(document))
        document = {key: row.document[key] for key in unspoken if key in row.document} | dict(document)
        if found := problems_of(document):
            raise InvalidSettings(found)
        changed = changes(row.document, document)
        if changed:
            ordered = {key: document[key] for key in ALL_KEYS if key in document}
            _write(row, ordered, [_change_json(change) for change in changed], Origin.IMPORTED, by)
    return Saved(row, changed, form_problems(document))


def document_at(profile: Profile, revision: int) -> dict[str, Any] | None:
    """The document as it was at a revision; None when there never was such a one. Revision 0 is the empty document."""
    if revision == profile.revision:
        return dict(profile.document)
    if revision == 0:
        return {}
    found = SettingsRevision.objects.for_team(profile.team_id).filter(profile=profile, revision=revision).first()
    return dict(found.document) if found else None


def judge(document: Document, known: Catalogue) -> tuple[Problem, ...]:
    """Everything the form's rules say of a document on the models of a catalogue, errors and warnings."""
    found = form_problems(document)
    if any(problem.severity == "error" for problem in found) or problems_of(document):
        return found
    return (*found, *route_problems(resolve(document), known))


def _must_be_keepable(values: Iterable[tuple[str, object]]) -> None:
    if found := keepable.problems(values):
        raise InvalidSettings(found)


def _judged(document: Document, team_id: int) -> tuple[Problem, ...]:
    found = (*keepable.problems(document.items()), *judge(document, catalogue.Routes(team_id)))
    if errors := tuple(problem for problem in found if problem.severity == "error"):
        raise InvalidSettings(errors)
    return found


def _locked(profile: Profile | int) -> Profile:
    pk = profile if isinstance(profile, int) else profile.pk
    return Profile.unscoped.select_for_update(of=("self",)).select_related("changed_by").get(pk=pk)


def _write(row: Profile, document: Document, ops: list[dict[str, Any]], origin: Origin, by: User | None) -> None:
    """The compare and set. The row is locked where the database can; the condition holds where it cannot."""
    before, now = row.revision, timezone.now()
    values = {"revision": before + 1, "document": dict(document), "changed_at": now, "changed_by": by}
    if not Profile.unscoped.filter(pk=row.pk, revision=before).update(**values):
        theirs = Profile.unscoped.select_related("changed_by").get(pk=row.pk)
        raise Conflict(before, theirs, dict(row.document), dict(document))
    for name, value in values.items():
        setattr(row, name, value)
    SettingsRevision.unscoped.create(
        team_id=row.team_id,
        profile=row,
        revision=row.revision,
        document=row.document,
        ops=ops,
        origin=origin,
        author=by,
    )


def _would_be(base: Document | None, ops: tuple[Op, ...]) -> dict[str, object] | None:
    if base is None:
        return None
    try:
        return apply(base, ops).document
    except InvalidSettings:
        return None


def _op_json(op: Op) -> dict[str, Any]:
    return {"op": op.op, "path": op.key} | ({"value": op.value} if op.op == "set" else {})


def _change_json(change: Change) -> dict[str, Any]:
    if not change.has:
        return {"op": "unset", "path": change.key}
    return {"op": "set", "path": change.key, "value": change.after}
