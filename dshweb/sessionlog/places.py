"""What the page of sources says of a place: paths tell of people's folders, workspaces and machines.

Where a team shows content to owners and admins only (DECISIONS 3), others see that a file was read and how it went, by
the last part of its name; a registered folder is named to those who may have it scanned.
"""

from __future__ import annotations

from dataclasses import dataclass

from dshweb.access.callers import Caller
from dshweb.access.models import Team, Visibility
from dshweb.sessionlog.models import DELETED, Source, SourceFile
from dshweb.sessionlog.selectors import may_see_file
from dshweb.sessionlog.services.sent import SENT


@dataclass(frozen=True)
class Place:
    """A folder or file as it may be shown to one caller: its name, its error, and whether either was shortened."""

    name: str
    error: str
    whole: bool


def _place(name: str, error: str, *, whole: bool) -> Place:
    if whole:
        return Place(name, error, whole=True)
    last = name.rstrip("/\\").replace("\\", "/").rpartition("/")[2].rpartition(":")[2]
    return Place(last, error.partition(":")[0], whole=False)


def folder(caller: Caller, row: Source) -> Place:
    """`row` with its team."""
    whole = row.team.content_visibility == Visibility.TEAM or caller.may_ingest(row.team_id)
    return _place(row.path, row.last_error, whole=whole)


def file(caller: Caller, row: SourceFile, teams: dict[int, Team]) -> Place:
    """`row` with its log and session, `teams` the caller's by id."""
    team = teams.get(row.team_id)
    whole = bool(team and team.content_visibility == Visibility.TEAM) or caller.is_admin(row.team_id)
    if not whole and row.log_id:
        whole = may_see_file(caller, row)
    elif not whole:  # a file that could not be read: who brings logs in has to find it
        whole = caller.may_ingest(row.team_id) and row.status != DELETED and not row.location.startswith(SENT)
    return _place(row.location, row.error, whole=whole)


def may_bring_back(caller: Caller, row: SourceFile, team: Team) -> bool:
    """Whether the caller may have the deleted log of `team` at this place read again.

    Where what was said is shown to owners and admins only, it takes one of these to undo what the owner took away.
    """
    if row.status != DELETED or not caller.may_ingest(row.team_id):
        return False
    shown = team.content_visibility == Visibility.TEAM
    return shown or caller.is_admin(row.team_id) or row.owner_id == caller.user.pk
