"""Questions about sessions and their logs, as one caller may see them. No list row ever carries a body (FR-086)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from django.db.models import Count, F, Q, QuerySet
from django.db.models.functions import Length, Substr

from dshweb.access.callers import Caller
from dshweb.access.models import Visibility
from dshweb.sessionlog.models import Compaction, LogFile, Message, Session, Source, SourceFile
from dshweb.sessionlog.services import search

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
PAGE = 50
WINDOW = 40
SHOWN_CHARS = 2000
LISTED_LOGS = 50


@dataclass(frozen=True)
class Filters:
    """What a list of sessions is narrowed to; empty means everything. All of it lives in the address."""

    q: str = ""
    model: str = ""
    status: str = ""
    compacted: bool = False

    @property
    def any(self) -> bool:
        return bool(self.q or self.model or self.status or self.compacted)


@dataclass(frozen=True)
class Page:
    """One page of a keyset-paged list; `next` is the cursor of the following one, "" at the end."""

    rows: list[Session]
    next: str = ""
    first: bool = True


def sessions_page(caller: Caller, cursor: str = "", filters: Filters | None = None, size: int = PAGE) -> Page:
    """Newest last event first, sessions without any time last. A cursor that cannot be read is the first page."""
    rows = _narrowed(Session.objects.for_caller(caller), caller, filters or Filters())
    after = _after(cursor)
    if after is not None:
        rows = rows.filter(after)
    found = list(
        rows.select_related("team", "owner", "current")
        .defer("current__state", "current__header", "current__damage", "current__accounting")
        .order_by(F("last_at").desc(nulls_last=True), "-id")[: size + 1]
    )
    more = len(found) > size
    found = found[:size]
    return Page(found, _cursor(found[-1]) if more else "", first=after is None)


def _narrowed(rows: QuerySet[Session], caller: Caller, filters: Filters) -> QuerySet[Session]:
    if filters.q:
        words = Q(title__icontains=filters.q) | Q(cwd__icontains=filters.q)
        said = messages_saying(caller, filters.q)
        if said is not None:
            words |= Q(pk__in=said.values("log__session"))
        rows = rows.filter(Q(session_id__icontains=filters.q) | words & _content(caller))
    if filters.model:
        rows = rows.filter(model=filters.model)
    if filters.status:
        rows = rows.filter(status=filters.status)
    if filters.compacted:
        rows = rows.filter(Q(compactions__gt=0) | Q(failed_compactions__gt=0))
    return rows


def messages_saying(caller: Caller, words: str) -> QuerySet[Message] | None:
    """Messages of the caller's teams in which a person or the assistant used all these words; None without a word.

    Who may see them is a question to their sessions (`may_see_content`).
    """
    found = search.matching(words)
    rows: QuerySet[Message] = Message.objects.for_caller(caller)
    return None if found is None else rows.filter(pk__in=found)


def _content(caller: Caller) -> Q:
    """Sessions whose content the caller may see, as a condition; the twin of `may_see_content`."""
    admin = [team for team in caller.team_ids if caller.is_admin(team)]
    return Q(team__content_visibility=Visibility.TEAM) | Q(owner=caller.user) | Q(team__in=admin)


def _cursor(row: Session) -> str:
    at = "" if row.last_at is None else str((row.last_at - EPOCH) // timedelta(microseconds=1))
    return f"{at}~{row.pk}"


def _after(cursor: str) -> Q | None:
    at, tilde, pk = cursor.partition("~")
    try:
        last, before = int(pk), None if at == "" else EPOCH + timedelta(microseconds=int(at))
    except (ValueError, OverflowError):
        return None
    if not tilde or last >= 1 << 63:
        return None
    if before is None:
        return Q(last_at=None, id__lt=last)
    return Q(last_at__lt=before) | Q(last_at=before, id__lt=last) | Q(last_at=None)


def models_of(caller: Caller) -> list[str]:
    """Models seen, for the filter."""
    names = Session.objects.for_caller(caller).exclude(model="").order_by("model").values_list("model", flat=True)
    return list(names.distinct()[:100])


def may_see_content(caller: Caller, session: Session) -> bool:
    """Whether the caller sees what was said, by the team's setting (DECISIONS 3). Numbers are for the whole team."""
    if session.team_id not in caller.grants:
        return False
    if session.team.content_visibility == Visibility.TEAM:
        return True
    return session.owner_id == caller.user.pk or caller.is_admin(session.team_id)


def sessions(caller: Caller) -> QuerySet[Session]:
    """Whole sessions, for one page about one of them."""
    rows: QuerySet[Session] = Session.objects.for_caller(caller)
    return rows.select_related("team", "owner", "current")


@dataclass(frozen=True)
class Lineage:
    """Sessions this one came from or gave rise to, of the same team. `parent` None: not here (or there is none)."""

    parent: Session | None = None
    children: list[Session] = field(default_factory=list)


def lineage(caller: Caller, session: Session) -> Lineage:
    around = Q(parent_session=session.session_id)
    if session.parent_session:
        around |= Q(session_id=session.parent_session)
    rows = Session.objects.for_team(session.team_id).filter(around).exclude(pk=session.pk).order_by("id")
    found = list(rows.only("id", "session_id", "parent_session", "origin", "team_id")[:LISTED_LOGS])
    parent = next((row for row in found if row.session_id == session.parent_session), None)
    return Lineage(parent, [row for row in found if row.parent_session == session.session_id])


def logs_of(session: Session) -> list[LogFile]:
    """With the places each was seen at (a copy with other bytes is its own log of the same session)."""
    rows = session.logs.defer("state", "header").order_by("-format", "file_name", "id").prefetch_related("places")
    return list(rows[:LISTED_LOGS])


def compactions_of(log: LogFile) -> list[Compaction]:
    """All attempts of a log, in the order of the log, without their summaries."""
    return list(log.compactions.defer("summary", "usage").order_by("position"))


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


def texts_at(log_id: int, seqs: Iterable[int]) -> Iterator[tuple[int, str]]:
    """(seq, stored masked text) of the messages with these seqs, few in memory at a time."""
    wanted = list(seqs)
    rows = Message.unscoped.filter(log_id=log_id, seq__in=wanted).order_by("position").values_list("seq", "text")
    return iter(()) if not wanted else rows.iterator(chunk_size=8)


@dataclass(frozen=True)
class Window:
    """Messages of a log from one position on. `back`, `on`: positions of the neighbouring windows, None at an end."""

    rows: Sequence[Message]
    back: int | None = None
    on: int | None = None
    doubled: frozenset[str] = frozenset()


def messages_window(log: LogFile, start: int = 0, seq: int | None = None, size: int = WINDOW) -> Window:
    """`size` messages from position `start` (or from the first one with that `seq` or a later one).

    Bodies are cut to SHOWN_CHARS in the database. `doubled` holds call ids that have more than one result in the log.
    """
    rows = log.messages.all()
    if seq is not None:
        start = rows.filter(seq__gte=seq).order_by("seq", "position").values_list("position", flat=True).first() or 0
    found = list(
        rows.filter(position__gte=start)
        .order_by("position")
        .defer("text")
        .annotate(shown=Substr("text", 1, SHOWN_CHARS), stored=Length("text"))[: size + 1]
    )
    before = list(rows.filter(position__lt=start).order_by("-position").values_list("position", flat=True)[:size])
    on = found[size].position if len(found) > size else None
    return Window(found[:size], before[-1] if before else None, on, _doubled(log, found[:size]))


def _doubled(log: LogFile, rows: Sequence[Message]) -> frozenset[str]:
    calls = {row.call_id for row in rows if row.call_id and row.type == "tool/result"}
    if not calls:
        return frozenset()
    counted = log.messages.filter(call_id__in=calls, type="tool/result").values("call_id").annotate(n=Count("id"))
    return frozenset(row["call_id"] for row in counted.order_by() if row["n"] > 1)


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
