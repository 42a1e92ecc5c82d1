"""Tasks as their page shows them: how far, how fast, how long still."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from dshweb.access.callers import Caller
from dshweb.access.models import Role, Visibility
from dshweb.tasks.models import OPEN, State, Task

PAGE = 50
VERSIONED = ("id", "state", "done", "total", "cancel_requested", "error", "attempts")


@dataclass(frozen=True)
class Filters:
    """What of the list is wanted; empty means everything."""

    state: str = ""
    kind: str = ""

    @property
    def any(self) -> bool:
        return bool(self.state or self.kind)


@dataclass(frozen=True)
class Progress:
    """A task and what follows from its numbers. `share` 0..1, `rate` units a second, `left` seconds; None: unknown."""

    task: Task
    share: float | None
    rate: float | None
    left: float | None
    took: float | None
    may_change: bool
    may_see: bool

    @property
    def label(self) -> str:
        """What the task is about: a path, a session. Only for those who may see what that names."""
        return self.task.label if self.may_see else ""

    @property
    def error(self) -> str:
        """Why it failed. An exception's text may quote a path, so others see its kind alone."""
        return self.task.error if self.may_see else self.task.error.partition(":")[0]

    @property
    def result(self) -> dict[str, Any] | None:
        return self.task.result if self.may_see else None

    @property
    def open(self) -> bool:
        return self.task.state in OPEN

    @property
    def may_cancel(self) -> bool:
        return self.may_change and self.open and not self.task.cancel_requested

    @property
    def may_retry(self) -> bool:
        return self.may_change and self.task.state in (State.FAILED, State.CANCELLED)


def tasks(caller: Caller, filters: Filters | None = None) -> QuerySet[Task]:
    rows: QuerySet[Task] = Task.objects.for_caller(caller).select_related("team", "created_by")
    for name in ("state", "kind"):
        value = getattr(filters, name, "")
        rows = rows.filter(**{name: value}) if value else rows
    return rows


def may_see(caller: Caller, task: Task) -> bool:
    """Whether the caller may know what the task is about: labels name folders, results count what was in them."""
    if task.team.content_visibility == Visibility.TEAM or task.created_by_id == caller.user.pk:
        return True
    grant = caller.grants.get(task.team_id)
    return bool(grant and grant.role == Role.ADMIN)


def tasks_page(caller: Caller, before: int | None = None, size: int = PAGE) -> tuple[list[Progress], int | None]:
    """Newest first; the second value is the cursor of the next page, None at the end."""
    rows = tasks(caller).defer("payload", "result", "again")
    if before is not None:
        rows = rows.filter(id__lt=before)
    found = list(rows.order_by("-id")[: size + 1])
    now = timezone.now()
    return [progress(row, caller, now) for row in found[:size]], found[size - 1].pk if len(found) > size else None


def progress(task: Task, caller: Caller, now: datetime | None = None) -> Progress:
    now = now or timezone.now()
    share = min(1.0, task.done / task.total) if task.total else None
    took = ((task.finished_at or now) - task.started_at).total_seconds() if task.started_at else None
    running = task.state == State.RUNNING
    rate = task.done / took if running and took and took >= 1 and task.done else None
    left = (task.total - task.done) / rate if rate and task.total is not None and task.total > task.done else None
    return Progress(task, share, rate, left, took, caller.may_ingest(task.team_id), may_see(caller, task))


def version(caller: Caller, pk: int | None = None, before: int | None = None) -> str:
    """Changes when, and only when, what the page shows of its tasks changes; one light query."""
    rows = Task.objects.for_caller(caller)
    rows = rows.filter(pk=pk) if pk is not None else rows
    rows = rows.filter(id__lt=before) if before is not None else rows
    seen = list(rows.order_by("-id").values_list(*VERSIONED)[: PAGE + 1])
    return hashlib.sha256(repr(seen).encode()).hexdigest()[:24]
