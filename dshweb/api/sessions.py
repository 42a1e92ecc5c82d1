"""`/api/v1/sessions`: what was ingested, with the damage report; events, messages and compactions; deletion (API.md)."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from django.core.exceptions import PermissionDenied
from django.db.models import Prefetch
from django.shortcuts import get_object_or_404
from ninja import Path, Query, Router, Schema
from pydantic import Field

from dshweb.access.models import User
from dshweb.api.about import about, example, refused
from dshweb.api.auth import ApiRequest, need_scope
from dshweb.api.errors import ApiError
from dshweb.api.session_shapes import DamageEntry, Deleted, LineageOut, LogOut, SessionDetail, SessionOut
from dshweb.api.shapes import LARGEST_ID, LIMIT, MOST, Paged
from dshweb.pages.deleting import judged
from dshweb.pages.session import may_delete
from dshweb.pages.sessions import seconds_of
from dshweb.sessionlog import listing, selectors
from dshweb.sessionlog.filters import Filters
from dshweb.sessionlog.models import LogFile, LogStatus, Session, SourceFile
from dshweb.sessionlog.orders import SORTS, beyond
from dshweb.sessionlog.selectors import may_see_content
from dshweb.sessionlog.services import delete as deletion
from dshweb.sessionlog.services.sessions import opened_by_dsh
from dshweb.sessionlog.words import damage_report

router = Router(tags=["sessions"], by_alias=True)

SessionId = Annotated[int, Path(ge=1, le=LARGEST_ID, description="our number of the session")]
Days = Annotated[date | None, Field(ge=date(1970, 1, 2), le=date(9990, 1, 1))]


class SessionFilters(Schema):
    q: str = Field("", max_length=200, description="title, id, folder, or words that were said")
    session_id: str = Field("", max_length=200, description="DSH's own id")
    team: str = Field("", max_length=50, description="short name of a team")
    workspace: str = Field("", max_length=1000, description="the working directory, whole")
    author: str = Field("", max_length=150, description="user name of its owner")
    model: str = Field("", max_length=200)
    provider: str = Field("", max_length=120)
    preset: str = Field("", max_length=120)
    status: Literal["", "ok", "damaged", "unsupported", "failed"] = Field("", description="health of its log")
    audit: Literal["", "altered", "candidates", "cannot", "partial", "clean", "waiting"] = ""
    compacted: bool = Field(default=False, description="only sessions with compactions, also uncompleted ones")
    since: Days = Field(None, description="last event on this day or later")
    until: Days = Field(None, description="last event on this day or earlier")
    sort: Literal["newest", "oldest", "turns", "tokens", "compactions", "attention", "title"] = "newest"
    cursor: str = Field("", max_length=500)
    limit: int = Field(LIMIT, ge=1, le=MOST)


@router.get(
    "/sessions",
    response={200: Paged[SessionOut], **refused()},
    summary="Sessions",
    openapi_extra=about(
        "read",
        "viewer",
        example("The newest sessions"),
        example(
            "Where a port was spoken of, most to look at first", query={"q": "port", "sort": "attention", "limit": 10}
        ),
        example("A session by DSH's id", query={"session_id": "parent-1"}),
    ),
)
def list_sessions(request: ApiRequest, filters: Query[SessionFilters]) -> Any:
    """Sessions of your teams, in any of the orders; `next` of the answer is the `cursor` of the next page."""
    need_scope(request.caller, "read")
    given = _filters(filters)
    if filters.cursor and beyond(SORTS[given.sort], filters.cursor) is None:
        raise ApiError(400, "bad-cursor", "This cursor is none of ours; start again without one.")
    page = listing.sessions_page(request.caller, given, after=filters.cursor, size=filters.limit)
    return Paged[SessionOut](items=[_session(request, row) for row in page.rows], next=page.next or None)


def _filters(asked: SessionFilters) -> Filters:
    owner = ""
    if asked.author:
        found = User.objects.filter(username=asked.author).values_list("pk", flat=True).first()
        owner = str(found or 0)  # nobody owns anything
    return Filters(
        q=asked.q.strip(), session_id=asked.session_id, team=asked.team, cwd=asked.workspace, owner=owner, model=asked.model,
        provider=asked.provider, preset=asked.preset, status=asked.status, audit=asked.audit,
        compacted="1" if asked.compacted else "", since=asked.since.isoformat() if asked.since else "",
        until=asked.until.isoformat() if asked.until else "", sort=asked.sort,
    )  # fmt: skip


def _session(request: ApiRequest, row: Session) -> SessionOut:
    visible = may_see_content(request.caller, row)
    return SessionOut(
        id=row.pk,
        session_id=row.session_id,
        team=row.team.slug,
        content_visible=visible,
        title=(row.title or None) if visible else None,
        workspace=(row.cwd or None) if visible else None,
        author=row.owner.username if row.owner else None,
        model=row.model or None,
        provider=row.provider or None,
        preset=row.preset or None,
        parent_session=row.parent_session or None,
        origin=row.origin or None,
        started_at=row.created_at,
        last_event_at=row.last_at,
        seconds=seconds_of(row),
        turns=row.turns,
        events=row.events,
        tokens=row.tokens,
        compactions=row.compactions,
        not_completed=row.failed_compactions,
        audit_result=row.audit_result or None,
        status=row.status or None,
    )


@router.get(
    "/sessions/{session_id}",
    response={200: SessionDetail, **refused(404)},
    summary="One session",
    openapi_extra=about("read", "viewer", example("Session 1", path={"session_id": 1})),
)
def get_session(request: ApiRequest, session_id: SessionId) -> Any:
    """With its logs, the damage report of each, and where it came from."""
    need_scope(request.caller, "read")
    row = _row(request, session_id)
    visible = may_see_content(request.caller, row)
    may_see_places = visible and request.caller.may_ingest(row.team_id)
    places = SourceFile.unscoped.order_by("location")
    logs = list(
        row.logs.defer("state").order_by("-format", "file_name", "id").prefetch_related(Prefetch("places", places))
    )
    opened = opened_by_dsh(logs)
    line = selectors.lineage(row)
    return SessionDetail(
        **_session(request, row).model_dump(),
        inherited=row.inherited,
        warnings=[str(one) for one in row.warnings] if isinstance(row.warnings, list) else [],
        logs=[_log_out(log, row, opened, places=may_see_places) for log in logs],
        lineage=LineageOut(
            parent=line.parent.pk if line.parent else None,
            children=[one.pk for one in line.children],
            alike=[one.pk for one in line.alike],
        ),
    )


def _log_out(log: LogFile, session: Session, opened: LogFile | None, *, places: bool) -> LogOut:
    report = damage_report(log)
    return LogOut(
        id=log.pk,
        file_name=log.file_name,
        format=log.format,
        status=LogStatus(log.status),
        size=log.size,
        complete=log.complete,
        last_seq=log.last_seq,
        read_at=log.read_at,
        current=log.pk == session.current_id,
        opened_by_dsh=opened is not None and log.pk == opened.pk,
        accounting=log.accounting if isinstance(log.accounting, dict) else {},
        damage=[
            DamageEntry(
                code=one.code,
                kind=one.kind,
                message=str(one.words),
                offset=one.offset,
                seq=one.seq,
                detail=one.detail or None,
            )
            for one in report.findings
        ],
        places=[place.location for place in log.places.all()] if places else None,
    )


@router.delete(
    "/sessions/{session_id}",
    response={200: Deleted, **refused(404)},
    summary="Delete a session",
    openapi_extra=about(
        "ingest", "admin", example("What would go with session 1", path={"session_id": 1}, query={"dry_run": True})
    ),
)
def delete_session(
    request: ApiRequest,
    session_id: SessionId,
    dry_run: Annotated[bool, Query(description="only count what would go")] = False,  # noqa: FBT002
) -> Any:
    """Its logs, messages, compactions, audits, reviews and stored bytes. For the session's owner, and the team's admins in
    person. The places it was read at are left alone from then on until somebody asks for them."""
    row = _row(request, session_id)
    if not may_delete(request.caller, row):
        raise PermissionDenied("A session is deleted by its owner or an admin of its team; nothing was changed.")
    doomed = deletion.doomed(row)
    counts = judged(row)
    done = not dry_run and deletion.delete_session(row.pk, by=request.caller)
    return Deleted(
        id=session_id,
        session_id=row.session_id,
        deleted=done,
        logs=doomed.logs,
        stored_bytes=doomed.stored_bytes,
        messages=doomed.messages,
        search_rows=doomed.searchable,
        compactions=doomed.compactions,
        **counts,
    )


def _row(request: ApiRequest, session_id: int) -> Session:
    return get_object_or_404(selectors.sessions(request.caller), pk=session_id)
