"""`/api/v1/tasks`: how far long work is, and stopping or repeating it (API.md)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.cache import get_conditional_response
from ninja import Path, Query, Router, Status
from pydantic import Field

from dshweb.api.about import about, example, refused
from dshweb.api.auth import ApiRequest, need_scope
from dshweb.api.shapes import LARGEST_ID, LIMIT, MOST, Paged, Shape, id_page
from dshweb.tasks import listing, services
from dshweb.tasks.models import State, Task

router = Router(tags=["tasks"], by_alias=True)
TaskId = Annotated[int, Path(ge=1, le=LARGEST_ID, description="number of the task")]


class TaskOut(Shape):
    """One piece of long work. `done` and `total` count `unit`s (bytes, logs, compactions); what is not known is null."""

    id: int
    team: str = Field(description="short name of the team it belongs to")
    kind: str = Field(description="`ingest`, `audit`, `rescan` …")
    label: str = Field(description="what it is about; empty for those who may not see that")
    state: State
    cancel_requested: bool = Field(description="it stops at its next step")
    done: int
    total: int | None
    unit: str
    rate: float | None = Field(description="units a second, of late")
    seconds_left: float | None
    attempts: int = Field(description="how often a worker began it")
    error: str | None = Field(description="why it failed")
    result: dict[str, Any] | None = Field(description="what came of it; depends on `kind`")
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class TaskFilters(Shape):
    state: State | None = None
    kind: str = Field("", max_length=40)
    cursor: str = Field("", max_length=20)
    limit: int = Field(LIMIT, ge=1, le=MOST)


def answer_task(request: ApiRequest, task: Task) -> TaskOut:
    """The body of a task, as the caller may see it. Calls that ask for long work return it with 202."""
    row = listing.progress(task, request.caller)
    return TaskOut(
        id=task.pk,
        team=task.team.slug,
        kind=task.kind,
        label=row.label,
        state=State(task.state),
        cancel_requested=task.cancel_requested and row.open,
        done=task.done,
        total=task.total,
        unit=task.unit,
        rate=row.rate,
        seconds_left=row.left,
        attempts=task.attempts,
        error=row.error or None,
        result=row.result,
        created_at=task.created_at,
        started_at=task.started_at,
        finished_at=task.finished_at,
    )


@router.get(
    "/tasks",
    response={200: Paged[TaskOut], **refused()},
    summary="Long work, newest first",
    openapi_extra=about(
        "read",
        "viewer",
        example("The newest tasks"),
        example("What failed, ten at a time", query={"state": "failed", "limit": 10}),
    ),
)
def list_tasks(request: ApiRequest, filters: Query[TaskFilters]) -> Any:
    """Tasks of your teams. `state` and `kind` narrow the list; `next` of the answer is the `cursor` of the next page."""
    need_scope(request.caller, "read")
    rows = listing.tasks(request.caller, listing.Filters(filters.state or "", filters.kind))
    found, following = id_page(rows.defer("payload", "again"), filters.cursor, filters.limit)
    return Paged[TaskOut](items=[answer_task(request, row) for row in found], next=following)


@router.get(
    "/tasks/{task_id}",
    response={200: TaskOut, 304: None, **refused(404)},
    summary="One task",
    openapi_extra=about("read", "viewer", example("How far task 1 is", path={"task_id": 1})),
)
def get_task(request: ApiRequest, response: HttpResponse, task_id: TaskId) -> Any:
    """Send the `ETag` of the last answer as `If-None-Match`: while nothing has changed the answer is an empty 304."""
    need_scope(request.caller, "read")
    tag = f'"{listing.version(request.caller, task_id)}"'
    same = get_conditional_response(request, etag=tag)
    if same is not None:
        return same
    task = get_object_or_404(listing.tasks(request.caller), pk=task_id)
    response.headers["ETag"] = tag
    return answer_task(request, task)


@router.post(
    "/tasks/{task_id}/cancel",
    response={200: TaskOut, **refused(404)},
    summary="Cancel a task",
    openapi_extra=about("ingest", "member", example("Stop task 1", path={"task_id": 1})),
)
def cancel_task(request: ApiRequest, task_id: TaskId) -> Any:
    """A waiting task is cancelled at once, a running one at its next step; what it did is kept. One that has ended stays as
    it is."""
    task = _changeable(request, task_id)
    services.cancel(task)
    return answer_task(request, listing.tasks(request.caller).get(pk=task_id))


@router.post(
    "/tasks/{task_id}/retry",
    response={202: TaskOut, **refused(404)},
    summary="Do a failed or cancelled task again",
    openapi_extra=about("ingest", "member", example("Do task 1 again", path={"task_id": 1}, status=202)),
)
def retry_task(request: ApiRequest, task_id: TaskId) -> Any:
    """Answers the new task, or the one for the same work that is open already."""
    task = _changeable(request, task_id)
    fresh = services.retry(task, by=listing.asker(request.caller, task))
    return Status(202, answer_task(request, fresh))


def _changeable(request: ApiRequest, task_id: int) -> Task:
    task = get_object_or_404(listing.tasks(request.caller), pk=task_id)
    need_scope(request.caller, "ingest")
    if not request.caller.may_ingest(task.team_id):
        raise PermissionDenied
    return task
