"""Questions about sessions and their logs, as one caller may see them. No list row ever carries a body (FR-086)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db.models import Count, Q, QuerySet

from dshweb.access.callers import Caller
from dshweb.access.models import Visibility
from dshweb.sessionlog.models import Compaction, LogFile, Message, Session, Source, SourceFile

PAGE = 50
LISTED_LOGS = 50


def may_see_content(caller: Caller, session: Session) -> bool:
    """Whether the caller sees what was said, by the team's setting (DECISIONS 3). Numbers are for the whole team."""
    if session.team_id not in caller.grants:
        return False
    return may_see_texts(caller, session.team_id, session.team.content_visibility, session.owner_id)


def may_see_texts(caller: Caller, team: int, visibility: str, owner: int | None) -> bool:
    """The same of a session of one of the caller's teams whose row is not at hand."""
    return visibility == Visibility.TEAM or owner == caller.user.pk or caller.is_admin(team)


def content_seen(caller: Caller) -> Q:
    """Sessions whose content the caller may see, as a condition; the twin of `may_see_content`."""
    admin = [team for team in caller.team_ids if caller.is_admin(team)]
    return Q(team__content_visibility=Visibility.TEAM) | Q(owner=caller.user) | Q(team__in=admin)


def sessions(caller: Caller) -> QuerySet[Session]:
    """Whole sessions, for one page about one of them."""
    return with_current(Session.objects.for_caller(caller))


def with_current(rows: QuerySet[Session]) -> QuerySet[Session]:
    """Sessions with team and owner; of the current log only what is small."""
    heavy = ("state", "header", "damage", "accounting", "work")
    return rows.select_related("team", "owner", "current").defer(*(f"current__{name}" for name in heavy))


@dataclass(frozen=True)
class Lineage:
    """Sessions this one came from or gave rise to, of the same team. `parent` None: not here (or there is none).

    `alike`: sessions that begin with the very same message, said at the same time, and are neither: copies under another id.
    """

    parent: Session | None = None
    children: list[Session] = field(default_factory=list)
    alike: list[Session] = field(default_factory=list)


def lineage(session: Session) -> Lineage:
    """Three queries."""
    around = Q(parent_session=session.session_id)
    if session.parent_session:
        around |= Q(session_id=session.parent_session)
    rows = Session.objects.for_team(session.team_id).filter(around).exclude(pk=session.pk).order_by("id")
    found = list(rows.only("id", "session_id", "parent_session", "origin", "team_id")[:LISTED_LOGS])
    parent = next((row for row in found if row.session_id == session.parent_session), None)
    children = [row for row in found if row.parent_session == session.session_id]
    return Lineage(parent, children, _alike(session, [session.pk, *(row.pk for row in found)]))


def _alike(session: Session, known: Iterable[int]) -> list[Session]:
    first = (
        Message.objects.for_team(session.team_id)
        .filter(log=session.current_id, human=True)
        .order_by("position")
        .values_list("digest", "at")
        .first()
    )
    if first is None or not first[0] or first[1] is None:
        return []
    same = Message.objects.for_team(session.team_id).filter(human=True, digest=first[0], at=first[1])
    rows = Session.objects.for_team(session.team_id).filter(pk__in=same.values("log__session")).exclude(pk__in=known)
    return list(rows.only("id", "session_id", "parent_session", "origin", "team_id").order_by("id")[:LISTED_LOGS])


def logs_of(session: Session) -> list[LogFile]:
    """With the places each was seen at (a copy with other bytes is its own log of the same session)."""
    rows = session.logs.defer("state", "header").order_by("-format", "file_name", "id").prefetch_related("places")
    return list(rows[:LISTED_LOGS])


def compactions_of(log: LogFile) -> list[Compaction]:
    """All attempts of a log, in the order of the log, without their summaries and lists of seqs."""
    return list(log.compactions.defer("summary", "usage", "context", "shadowed_seqs").order_by("position"))


def messages_of(session: Session) -> QuerySet[Message]:
    """Messages of all logs of a session, whole."""
    rows: QuerySet[Message] = Message.objects.for_team(session.team_id).filter(log__session=session)
    return rows.select_related("log").defer("log__state", "log__damage", "log__accounting")


def compactions(caller: Caller) -> QuerySet[Compaction]:
    """Whole attempts, for one page about one of them."""
    rows: QuerySet[Compaction] = Compaction.objects.for_caller(caller).select_related(
        "session__team", "session__owner", "log"
    )
    return rows.defer("log__state", "log__header", "log__damage", "log__accounting")


def sources_of(caller: Caller) -> list[Source]:
    return list(Source.objects.for_caller(caller).select_related("team").order_by("path"))


def files_page(
    caller: Caller, after: int | None = None, *, troubled: bool = False, size: int = PAGE
) -> list[SourceFile]:
    """`size` + 1 files (the last tells that there are more), last seen first; `troubled`: those not plainly ok."""
    rows = (
        SourceFile.objects.for_caller(caller)
        .select_related("log__session__team")
        .defer("report", "log__state", "log__header", "log__damage", "log__accounting")
    )
    if after is not None:
        rows = rows.filter(id__lt=after)
    if troubled:
        rows = rows.exclude(status="ok", error="")
    return list(rows.order_by("-id")[: size + 1])


def may_see_file(caller: Caller, file: SourceFile) -> bool:
    """Whether the session behind a file may be named; a file without one shows only its place and error."""
    return file.log is not None and may_see_content(caller, file.log.session)


def file_counts(caller: Caller) -> dict[str, int]:
    """Files by status; "" are those never read to an end."""
    rows = SourceFile.objects.for_caller(caller).order_by().values("status").annotate(n=Count("id"))
    return {row["status"]: row["n"] for row in rows}
