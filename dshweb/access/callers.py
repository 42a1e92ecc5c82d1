"""Who is asking: a person in a browser or a program with a token, reduced to what the rest of the code needs."""

from __future__ import annotations

from dataclasses import dataclass, field

from django.http import HttpRequest

from dshweb.access.models import ApiToken, Membership, Role, User


@dataclass(frozen=True)
class Grant:
    """What a caller may do in one team."""

    role: str
    can_review: bool = False


@dataclass(frozen=True)
class Caller:
    """A person or a token with its teams. `grants` maps team id → Grant."""

    user: User
    grants: dict[int, Grant] = field(default_factory=dict)
    token: ApiToken | None = None

    @property
    def team_ids(self) -> list[int]:
        return list(self.grants)

    def has_scope(self, scope: str) -> bool:
        return self.token is None or scope in self.token.scopes

    def may_ingest(self, team_id: int) -> bool:
        grant = self.grants.get(team_id)
        return bool(grant and grant.role in {Role.MEMBER, Role.ADMIN} and self.has_scope("ingest"))

    def may_review(self, team_id: int) -> bool:
        grant = self.grants.get(team_id)
        return bool(grant and grant.can_review and self.has_scope("review"))

    def may_configure(self, team_id: int) -> bool:
        """Whether the caller may change compaction settings: an admin, or an admin's token made for the engine."""
        grant = self.grants.get(team_id)
        return bool(grant and grant.role == Role.ADMIN and self.has_scope("engine"))

    def is_admin(self, team_id: int) -> bool:
        """Admin rights are a person's; no token scope gives them."""
        grant = self.grants.get(team_id)
        return bool(grant and grant.role == Role.ADMIN and self.token is None)


class CallerRequest(HttpRequest):
    """A request as `CallerMiddleware` hands it on for a logged-in person; for annotations only."""

    caller: Caller
    user: User


def caller_for_user(user: User) -> Caller:
    rows = Membership.objects.filter(user=user).order_by("team_id")
    return Caller(user=user, grants={row.team_id: Grant(row.role, row.can_review) for row in rows})


def caller_for_token(token: ApiToken) -> Caller:
    """The token's team only, with the role its person has there now; no membership, no access."""
    row = Membership.objects.filter(user=token.user_id, team=token.team_id, user__is_active=True).first()
    grants = {row.team_id: Grant(row.role, row.can_review)} if row else {}
    return Caller(user=token.user, grants=grants, token=token)
