"""`/api/v1/logs`: handing logs in, whole or piece by piece (API.md). The rules stand in services.uploads and services.pieces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar, cast

from django.core.exceptions import PermissionDenied
from ninja import Path, Query, Router, Status
from pydantic import Field

from dshweb.access.models import Team
from dshweb.api.about import about, example, refused
from dshweb.api.auth import ApiRequest, need_scope, team_of
from dshweb.api.errors import ApiError, Problem
from dshweb.api.shapes import LARGEST_ID, Shape
from dshweb.api.tasks import TaskOut, answer_task
from dshweb.sessionlog.receiving import FIELD, cut_off
from dshweb.sessionlog.services import inbox, pieces, uploads
from dshweb.sessionlog.services.inbox import Refused
from dshweb.sessionlog.services.uploads import Received

router = Router(tags=["logs"], by_alias=True)
T = TypeVar("T")

SessionId = Annotated[
    str, Path(min_length=1, max_length=200, description="the session: the name of the folder its log lies in")
]
FileName = Annotated[str, Path(min_length=1, max_length=200, description="the log's file name")]
TeamSlug = Annotated[str | None, Query(max_length=60, description="short name of the team; your first team without it")]
BINARY = {"schema": {"type": "string", "format": "binary"}}
A_LOG = {"session_id": "session-2c3679a5-973d-4e73-b408-6701fd1e9017", "file_name": "session.v4.jsonl.zstd"}


class FileOut(Shape):
    """What became of one file of the call: it is here and `task` imports it, or `error` says why it was not taken."""

    name: str
    size: int | None = Field(description="bytes that came")
    sha256: str | None
    task: TaskOut | None
    error: Problem | None


class UploadOut(Shape):
    """`task` is that of the first file that was taken; `files` tells of all, those taken first."""

    task: TaskOut
    files: list[FileOut]


class SizeOut(Shape):
    """How much of a log is here. `sha256` is that of the first `first` bytes, where the call asked for it."""

    size: int
    first: int | None = None
    sha256: str | None = None


@router.post(
    "/logs",
    response={202: UploadOut, **refused(404, 411, 413, 503, 507)},
    summary="Hand in a log",
    openapi_extra=about(
        "ingest",
        "member",
        example(
            "One log as the body",
            query={"name": "session.v4.jsonl.zstd"},
            raw="session.v4.jsonl.zstd",
            headers={"Content-Type": "application/octet-stream"},
            status=202,
        ),
        example("A form with files", files={FIELD: "session.v4.jsonl.zstd"}, status=202),
    )
    | {
        "requestBody": {
            "required": True,
            "content": {
                "application/octet-stream": BINARY,
                "multipart/form-data": {
                    "schema": {
                        "type": "object",
                        "properties": {FIELD: {"type": "array", "items": BINARY["schema"]}},
                        "required": [FIELD],
                    }
                },
            },
        }
    },
)
def post_log(
    request: ApiRequest,
    name: Annotated[str, Query(max_length=1000, description="the file's name, when it is the body itself")] = "",
    team: TeamSlug = None,
) -> Any:
    """Keeps the bytes and asks for their import, which a worker does: follow `task`.

    A log that is here already changes nothing: the same bytes lead to the same session. A file that is no log makes its
    task fail, with the reason. The body needs a length (`Content-Length`); more than MAX_UPLOAD_BYTES is refused.
    """
    into = _team(request, team)
    length = _length(request)
    if request.content_type == "multipart/form-data":
        files = _form(request, into)
    else:
        received = _or_error(
            lambda: uploads.receive(cast(Any, request), length, name, team=into, user=request.caller.user)
        )
        files = [_out(request, received)]
    return Status(202, UploadOut(task=next(file.task for file in files if file.task), files=files))


@router.get(
    "/logs/{session_id}/{file_name}",
    response={200: SizeOut, **refused(404, 410)},
    summary="How much of a log is here",
    openapi_extra=about(
        "ingest",
        "member",
        example("Before a collector goes on", path=A_LOG),
        example("Whether its first bytes are mine", path=A_LOG, query={"first": 1024}),
    ),
)
def get_size(
    request: ApiRequest,
    session_id: SessionId,
    file_name: FileName,
    first: Annotated[
        int | None, Query(ge=0, le=LARGEST_ID, description="digest this many bytes, or all if fewer")
    ] = None,
    team: TeamSlug = None,
) -> Any:
    """The size of what you sent of this log: 0 when nothing is here. Others' logs are never told of, whatever their names."""
    into = _team(request, team)
    size, count, digest = _or_error(lambda: pieces.look(_place(request, into, session_id, file_name), first))
    return SizeOut(size=size, first=count, sha256=digest)


@router.put(
    "/logs/{session_id}/{file_name}",
    response={200: SizeOut, **refused(404, 409, 410, 411, 413, 503, 507)},
    summary="Send the next piece of a log",
    openapi_extra=about(
        "ingest",
        "member",
        example(
            "The beginning",
            path={"session_id": "session-of-the-example", "file_name": "session.v4.jsonl.zstd"},
            query={"offset": 0},
            raw="session.v4.jsonl.zstd",
            headers={"Content-Type": "application/octet-stream"},
        ),
    )
    | {"requestBody": {"required": True, "content": {"application/octet-stream": BINARY}}},
)
def put_piece(
    request: ApiRequest,
    session_id: SessionId,
    file_name: FileName,
    offset: Annotated[int, Query(ge=0, le=LARGEST_ID, description="where in the log the body begins")],
    before: Annotated[
        str | None,
        Query(
            pattern="^[0-9A-Fa-f]{64}$",
            description=f"SHA-256 of the up to {pieces.BEFORE_BYTES} bytes that stand before `offset` in your file",
        ),
    ] = None,
    cut: Annotated[  # noqa: FBT002
        bool, Query(description="your file was written anew: drop what is here behind `offset`; needs `before`")
    ] = False,
    team: TeamSlug = None,
) -> Any:
    """Appends the body if `offset` is the size of what is here, and answers the new size; the import follows by itself.

    Any other offset: 409 `logs/offset`, and `detail.size` says where to go on. With `before`, bytes that differ are found:
    409 `logs/different`. A body is taken whole or not at all, and is on disk when the answer comes. What one person sends
    is theirs: the same names sent by another person are another log.
    """
    into = _team(request, team)
    length = _length(request)
    if length > pieces.PIECE_BYTES:
        raise ApiError(
            413, "logs/piece-too-large", f"A piece may have {pieces.PIECE_BYTES} bytes; nothing was kept. Send smaller ones.",
            {"most": pieces.PIECE_BYTES},
        )  # fmt: skip
    place = _or_error(lambda: _place(request, into, session_id, file_name))
    with _or_error(lambda: inbox.body_of(cast(Any, request), length)) as body:
        size = _or_error(lambda: pieces.append(place, body, length, offset=offset, before=before, cut=cut))
    return SizeOut(size=size)


def _team(request: ApiRequest, slug: str | None) -> Team:
    need_scope(request.caller, "ingest")
    team = team_of(request.caller, slug)
    if not request.caller.may_ingest(team.pk):
        raise PermissionDenied("Viewers may not bring logs in; nothing was kept.")
    return team


def _place(request: ApiRequest, team: Team, session_id: str, file_name: str) -> pieces.Place:
    return pieces.Place.of(team, request.caller.user, session_id, file_name)


def _length(request: ApiRequest) -> int:
    """The length the body was announced with. A body of unknown length that breaks off would look like a whole one."""
    text = request.META.get("CONTENT_LENGTH") or "0"
    if "HTTP_TRANSFER_ENCODING" in request.META or not (text.isascii() and text.isdigit()):
        raise ApiError(411, "length-required", "Send the body with its `Content-Length`; nothing was kept.")
    return int(text)


def _form(request: ApiRequest, team: Team) -> list[FileOut]:
    """The files of a form that were taken, in their order, and behind them what was not, each with its reason."""
    taken = request.FILES.getlist(FIELD)
    wrong: list[tuple[str, Refused]] = getattr(request, "refused_files", [])
    if cut_off(request):
        raise _error(inbox.cut_off())
    found = []
    for file in taken:
        try:
            received = uploads.accept(file.incoming, file.name, team=team, user=request.caller.user)  # type: ignore[attr-defined]
            found.append(_out(request, received))
        except Refused as reason:
            wrong.append((str(file.name), reason))
    if not found and wrong:
        raise _error(wrong[0][1])
    if not found:
        raise ApiError(422, "logs/no-file", f"No file came in the field `{FIELD}` of the form.")
    refused_ones = [
        FileOut(
            name=name, size=None, sha256=None, task=None,
            error=Problem(code=reason.code, message=str(reason), detail=reason.detail or None),
        )
        for name, reason in wrong
    ]  # fmt: skip
    return found + refused_ones


def _out(request: ApiRequest, received: Received) -> FileOut:
    return FileOut(
        name=received.name,
        size=received.size,
        sha256=received.sha256,
        task=answer_task(request, received.task),
        error=None,
    )


def _or_error(act: Callable[[], T]) -> T:
    try:
        return act()
    except Refused as reason:
        raise _error(reason) from None


def _error(reason: Refused) -> ApiError:
    detail = dict(reason.detail)
    wait = detail.pop("retry_after", None)
    headers = {"Retry-After": str(wait)} if wait else {}
    return ApiError(reason.status, reason.code, str(reason), detail or None, **headers)
