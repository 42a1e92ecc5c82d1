"""Teams themselves: made by the operator (a superuser), named and set by their admins."""

from __future__ import annotations

from django.db import transaction

from dshweb.access.models import Membership, Role, Team, User
from dshweb.access.services.log import note_access

RESERVED = {"new"}  # /teams/new/


def make(name: str, slug: str, by: User) -> Team:
    """A new team with `by` as its admin. Raises IntegrityError when the short name is taken."""
    with transaction.atomic():
        team = Team.objects.create(name=name, slug=slug)
        Membership.objects.create(team=team, user=by, role=Role.ADMIN, can_review=True)
        note_access(team, "team-made", f"{team.name} ({team.slug})", user=by)
    return team


def change(team: Team, name: str, content_visibility: str, by: User) -> bool:
    """False: nothing was different."""
    with transaction.atomic():
        before = Team.objects.select_for_update().get(pk=team.pk)
        said = []
        if before.name != name:
            said.append(f"name: {before.name} → {name}")
        if before.content_visibility != content_visibility:
            said.append(f"content: {before.content_visibility} → {content_visibility}")
        if not said:
            return False
        Team.objects.filter(pk=team.pk).update(name=name, content_visibility=content_visibility)
        note_access(team, "team-changed", "; ".join(said), user=by)
    return True
