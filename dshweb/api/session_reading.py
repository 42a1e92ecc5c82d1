"""`/api/v1/sessions/{id}/…`: events, messages and compactions of a session's log (API.md)."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.db.models.functions import Substr
from django.http import Http404
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema
from pydantic import Field

from audit.selectors import latest
from dshweb.api.about import about, example, refused
from dshweb.api.auth import ApiRequest, need_scope
from dshweb.api.errors import ApiError
from dshweb.api.session_shapes import CompactionLine, EventOut, EventsPage, MessageOut, Part
from dshweb.api.sessions import SessionId
from dshweb.api.shapes import LARGEST_ID, LIMIT, MOST, Paged, bad_cursor, whole_number
from dshweb.pages.events import may_read_original, note_original
from dshweb.sessionlog import selectors
from dshweb.sessionlog.models import Compaction, LogFile, Message, Outcome, Session
from dshweb.sessionlog.selectors import may_see_content
from dshweb.sessionlog.services import events
from dshweb.sessionlog.services.events import Place, Unreadable

router = Router(tags=["sessions"], by_alias=True)
Row = TypeVar("Row", Message, Compaction)

TEXT_CHARS = 20_000
EVENTS = 100

Log = Annotated[int | None, Field(ge=1, le=LARGEST_ID, description="one of its logs; without, the newest by content")]


class EventFilters(Schema):
    log: Log = None
    from_seq: int | None = Field(None, ge=0, le=LARGEST_ID, description="start at this seq, or the first one after it")
    cursor: str = Field("", max_length=40, description="`next` of the page before; wins over `from_seq`")
    limit: int = Field(EVENTS, ge=1, le=MOST)
    original: bool = Field(
        default=False, description="unmasked: only the session's owner and its team's admins, and it is written down"
    )


@router.get(
    "/sessions/{session_id}/events",
    response={200: EventsPage, **refused(404, 410)},
    summary="Events of a log",
    openapi_extra=about(
        "read",
        "viewer",
        example("The first events", path={"session_id": 1}, query={"limit": 3}),
        example("From seq 4 on", path={"session_id": 1}, query={"from_seq": 4, "limit": 3}),
    ),
)
def list_events(request: ApiRequest, session_id: SessionId, filters: Query[EventFilters]) -> Any:
    """Every event as its row says it, in the order of the log, masked. Only the frames that hold them are read; a page may end
    before `limit` when they are large. `original=true` needs the owner's login or token, or an admin in person."""
    need_scope(request.caller, "read")
    row, log = _readable(request, session_id, filters.log)
    start = Place.read(filters.cursor) if filters.cursor else None
    if filters.cursor and start is None:
        raise bad_cursor()
    if filters.original:
        if not may_read_original(request.caller, row):
            raise PermissionDenied("The original is for the session's owner and its team's admins; nothing was read.")
        first = start or filters.from_seq or 0
        note_original(request.caller, row, f"from {first}, {filters.limit} at most")
    try:
        page = events.page(log, start=start, from_seq=filters.from_seq, limit=filters.limit)
        shown = [one.event for one in page.rows]
        documents = [events.document(one) for one in shown] if filters.original else events.masked_documents(log, shown)
    except Unreadable as error:
        raise ApiError(
            410, "sessions/log-gone", "The stored log cannot be read; bring it in again from where it came."
        ) from error
    return EventsPage(
        log=log.pk,
        masked=not filters.original,
        items=[_event(one, found) for one, found in zip(page.rows, documents, strict=True)],
        next=str(page.next) if page.next else None,
    )


def _event(one: events.Listed, document: dict[str, Any]) -> EventOut:
    return EventOut(
        place=str(one.place),
        seq=one.event.seq,
        type=one.type,
        at=one.at,
        size=one.size,
        event=document,
    )


class MessageFilters(Schema):
    log: Log = None
    from_seq: int | None = Field(None, ge=0, le=LARGEST_ID)
    cursor: str = Field("", max_length=20)
    limit: int = Field(LIMIT, ge=1, le=MOST)


@router.get(
    "/sessions/{session_id}/messages",
    response={200: Paged[MessageOut], **refused(404)},
    summary="Messages of a log",
    openapi_extra=about("read", "viewer", example("The conversation", path={"session_id": 1}, query={"limit": 10})),
)
def list_messages(request: ApiRequest, session_id: SessionId, filters: Query[MessageFilters]) -> Any:
    """What stands on the surface: who wrote it, and its masked text up to 20 000 characters (`chars` tells how many there are)."""
    need_scope(request.caller, "read")
    _session_row, log = _readable(request, session_id, filters.log)
    rows = log.messages.all()
    if not filters.cursor and filters.from_seq is not None:
        later = rows.filter(seq__gte=filters.from_seq).order_by("seq", "position")
        first = later.values_list("position", flat=True).first()
        rows = rows.filter(position__gte=first) if first is not None else rows.none()
    rows = rows.defer("text").annotate(head=Substr("text", 1, TEXT_CHARS))
    found, following = _page(rows, filters.cursor, filters.limit)
    return Paged[MessageOut](items=[_message(one) for one in found], next=following)


def _message(row: Message) -> MessageOut:
    return MessageOut(
        id=row.pk,
        log=row.log_id,
        position=row.position,
        seq=row.seq,
        type=row.type,
        author=row.author or None,
        human=row.human,
        turn=row.turn,
        step=row.step,
        at=row.at,
        call_id=row.call_id or None,
        tool=row.tool or None,
        is_error=row.is_error,
        placeholder=row.placeholder,
        inherited=row.inherited,
        opaque_blocks=row.opaque_blocks,
        masked_places=row.redactions,
        chars=row.chars,
        parts=[Part(source=source, chars=chars) for source, chars in row.parts],
        text=row.head or "",  # type: ignore[attr-defined]
    )


class LogFilter(Schema):
    log: Log = None
    cursor: str = Field("", max_length=20)
    limit: int = Field(LIMIT, ge=1, le=MOST)


@router.get(
    "/sessions/{session_id}/compactions",
    response={200: Paged[CompactionLine], **refused(404)},
    summary="Compactions of a log",
    openapi_extra=about("read", "viewer", example("Its compactions", path={"session_id": 1})),
)
def list_compactions(request: ApiRequest, session_id: SessionId, filters: Query[LogFilter]) -> Any:
    """All attempts in the order of the log, each with its audit in a line."""
    need_scope(request.caller, "read")
    row = _row(request, session_id)
    log = log_of(row, filters.log)
    attempts = log.compactions.defer("summary", "usage", "error", "context")
    found, following = _page(attempts, filters.cursor, filters.limit)
    lines = latest(request.caller, [one.pk for one in found])
    items = []
    for one in found:
        line = lines.get(one.pk)
        items.append(
            CompactionLine(
                id=one.pk,
                compaction_id=one.compaction_id,
                log=one.log_id,
                outcome=Outcome(one.outcome),
                round=one.round,
                trigger=one.trigger or None,
                inherited=one.inherited,
                at=one.at,
                start_seq=one.start_seq,
                summary_seq=one.summary_seq,
                end_seq=one.end_seq,
                shadowed_events=len(one.shadowed_seqs),
                audited=line is not None,
                altered=line.altered + line.stale if line else None,
                candidates=line.candidates if line else None,
                partial=line.partial if line else None,
            )
        )
    return Paged[CompactionLine](items=items, next=following)


def _row(request: ApiRequest, session_id: int) -> Session:
    return get_object_or_404(selectors.sessions(request.caller), pk=session_id)


def log_of(row: Session, wanted: int | None) -> LogFile:
    """The log asked for, else the current one. Raises Http404 for one that is not the session's."""
    logs = row.logs.defer("state", "header", "damage", "accounting")
    pk = row.current_id if wanted is None else wanted
    found = None if pk is None else logs.filter(pk=pk).first()
    if found is None:
        raise Http404
    return found


def _readable(request: ApiRequest, session_id: int, wanted: int | None) -> tuple[Session, LogFile]:
    """A session whose content the caller may see, and one of its logs; what may not be seen is not there."""
    row = _row(request, session_id)
    if not may_see_content(request.caller, row):
        raise Http404
    return row, log_of(row, wanted)


def _page(rows: QuerySet[Row], cursor: str, limit: int) -> tuple[list[Row], str | None]:
    """A page of `rows` of a log in its order, and the cursor of the next: the position where it begins."""
    rows = rows.order_by("position")
    if cursor:
        rows = rows.filter(position__gte=whole_number(cursor))
    found = list(rows[: limit + 1])
    return found[:limit], str(found[limit].position) if len(found) > limit else None
