"""What the pages of people, teams and tokens ask."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import QuerySet
from django.http import Http404
from django.utils import timezone

from dshweb.access.callers import Caller
from dshweb.access.models import AccessLog, ApiToken, Membership, Role, Scope, Team, User

LISTED = 200
PAGE = 50
LOOKED_THROUGH = 10_000


def team_of(caller: Caller, slug: str) -> Team:
    """Raises Http404 for a team the caller is not in, as for one that is not there."""
    team = Team.objects.filter(slug=slug, pk__in=caller.team_ids).first()
    if team is None:
        raise Http404
    return team


def home_first(teams: Iterable[Team], user: User) -> list[Team]:
    """The teams in their order, the person's own before them: anybody's admin can add a person to a team, and what is sent
    without naming one must not go there for it."""
    return sorted(teams, key=lambda team: team.pk != user.home_id)


def memberships(user: User) -> list[Membership]:
    return list(Membership.objects.filter(user=user).select_related("team").order_by("team__name"))


def members(team: Team) -> QuerySet[Membership]:
    return Membership.objects.filter(team=team).select_related("user", "team").order_by("user__username")


def allows(row: Membership | None, scope: str) -> bool:
    """Whether a token of this member could use `scope` in the team now: it never has more rights than its person."""
    if row is None:
        return False
    if scope == Scope.INGEST:
        return row.role in {Role.MEMBER, Role.ADMIN}
    if scope == Scope.ENGINE:
        return row.role == Role.ADMIN
    return row.can_review if scope == Scope.REVIEW else True


@dataclass(frozen=True)
class TokenRow:
    """A token as lists show it. `state`: active, expired, revoked or idle (its person left the team).

    `scopes`: (name, label, whether it has an effect with the person's rights of now).
    """

    token: ApiToken
    state: str
    scopes: list[tuple[str, str, bool]]

    @property
    def ended(self) -> bool:
        return self.state in ("expired", "revoked")


def _rows(found: Iterable[ApiToken]) -> list[TokenRow]:
    listed = list(found)
    rights = {
        (row.team_id, row.user_id): row
        for row in Membership.objects.filter(
            team__in={token.team_id for token in listed}, user__in={token.user_id for token in listed}
        )
    }
    now, words = timezone.now(), dict(Scope.choices)
    rows = []
    for token in listed:
        member = rights.get((token.team_id, token.user_id))
        if token.revoked_at:
            state = "revoked"
        elif token.expires_at and token.expires_at <= now:
            state = "expired"
        else:
            state = "active" if member else "idle"
        scopes = [(scope, str(words.get(scope, scope)), allows(member, scope)) for scope in token.scopes]
        rows.append(TokenRow(token, state, scopes))
    return sorted(rows, key=lambda row: row.ended)  # stable: newest first within each


def tokens_of(user: User) -> list[TokenRow]:
    """A person's own, those in force first."""
    return _rows(ApiToken.unscoped.filter(user=user).select_related("team").order_by("-pk")[:LISTED])


def tokens_in(team: Team) -> list[TokenRow]:
    """All of a team that are in force; whoever made them."""
    rows = ApiToken.objects.for_team(team).filter(revoked_at=None).select_related("user", "team").order_by("-pk")
    return [row for row in _rows(rows[:LISTED]) if not row.ended]


@dataclass(frozen=True)
class LogFilters:
    """What of the access log is wanted: an action, a person's id; empty means all."""

    action: str = ""
    person: int | None = None


def access_log(team: Team, filters: LogFilters, before: int | None = None) -> QuerySet[AccessLog]:
    """Rows of the log, newest first; from `before` (an id) on."""
    rows: QuerySet[AccessLog] = AccessLog.objects.for_team(team).select_related("user", "token").order_by("-pk")
    if filters.action:
        rows = rows.filter(action=filters.action)
    if filters.person is not None:
        rows = rows.filter(user=filters.person)
    return rows if before is None else rows.filter(pk__lt=before)


def in_the_log(team: Team) -> tuple[list[str], list[User]]:
    """Actions and people that occur in its newest rows, for its filters."""
    newest = AccessLog.objects.for_team(team).order_by("-pk").values("pk")[:LOOKED_THROUGH]
    rows = AccessLog.objects.for_team(team).filter(pk__in=newest).order_by()
    actions = sorted(rows.values_list("action", flat=True).distinct())
    people = User.objects.filter(pk__in=rows.values("user")).order_by("username")
    return actions, list(people[:LISTED])
