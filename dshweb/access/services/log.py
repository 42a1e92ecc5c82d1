"""The access log: who read an unmasked original, who made or revoked a key. Rows are added, never changed."""

from __future__ import annotations

from dshweb.access.callers import Caller
from dshweb.access.models import AccessLog, Membership, Team, User


def note_access(
    team: Team | int, action: str, target: str, caller: Caller | None = None, user: User | None = None
) -> AccessLog:
    """Add a row. Who did it is `caller` (with its token) or `user`."""
    return AccessLog.unscoped.create(
        team_id=team if isinstance(team, int) else team.pk,
        action=action[:40],
        target=target[:300],
        user=caller.user if caller else user,
        token=caller.token if caller else None,
    )


def note_of_account(account: User, action: str, by: User) -> None:
    """Add a row for each team of the account: what is done with it concerns them all."""
    for team in Membership.objects.filter(user=account).values_list("team", flat=True):
        note_access(team, action, str(account), user=by)
