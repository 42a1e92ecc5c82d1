"""Tasks as their page shows them: how far, how fast, how long still."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from dshweb.access.callers import Caller
from dshweb.access.models import Role, User, Visibility
from dshweb.tasks import words
from dshweb.tasks.models import OPEN, State, Task

PAGE = 50
VERSIONED = ("id", "state", "done", "total", "cancel_requested", "error", "attempts", "team__content_visibility")
# a task that did nothing for this long, or for as long as three of its units take, is not "so fast" any more
STALLED_SECONDS = 30


@dataclass(frozen=True)
class Filters:
    """What of the list is wanted; empty means everything. `state` may also be `open`: waiting or running."""

    state: str = ""
    kind: str = ""

    @property
    def any(self) -> bool:
        return bool(self.state or self.kind)

    def q(self) -> Q:
        found = Q(kind=self.kind) if self.kind else Q()
        if self.state == words.OPEN:
            return found & Q(state__in=OPEN)
        return found & Q(state=self.state) if self.state else found


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
    def name(self) -> str:
        return str(words.KINDS.get(self.task.kind, self.task.kind))

    @property
    def label(self) -> str:
        """What the task is about: a path, a session. Only for those who may see what that names."""
        return self.task.label if self.may_see else ""

    @property
    def error(self) -> str:
        """Why it failed. An exception's text may quote a path, so others see its kind alone."""
        return self.task.error if self.may_see else self.task.error.partition(":")[0]

    @property
    def reason(self) -> str:
        """The error for people: the kind of a known one in words, the rest behind it in brackets."""
        kind, _colon, rest = self.error.partition(": ")
        if kind not in words.FAILURES:
            return self.error
        return f"{words.FAILURES[kind]} ({rest})" if rest else str(words.FAILURES[kind])

    @property
    def result(self) -> dict[str, Any] | None:
        return self.task.result if self.may_see and isinstance(self.task.result, dict) else None

    @property
    def open(self) -> bool:
        return self.task.state in OPEN

    @property
    def may_cancel(self) -> bool:
        return self.may_change and self.open and not self.task.cancel_requested

    @property
    def may_retry(self) -> bool:
        return self.may_change and self.task.state in (State.FAILED, State.CANCELLED)


@dataclass(frozen=True)
class Attempt:
    """One time a worker began the task; `how` it ended, in words, "" for the one the task's own state tells of."""

    started: datetime | None
    ended: datetime | None
    how: str


def tasks(caller: Caller, filters: Filters | None = None) -> QuerySet[Task]:
    rows: QuerySet[Task] = Task.objects.for_caller(caller).select_related("team", "created_by")
    return rows.filter(filters.q()) if filters else rows


def may_see(caller: Caller, task: Task) -> bool:
    """Whether the caller may know what the task is about: labels name folders, results count what was in them."""
    if task.team.content_visibility == Visibility.TEAM or task.created_by_id == caller.user.pk:
        return True
    grant = caller.grants.get(task.team_id)
    return bool(grant and grant.role == Role.ADMIN)


def asker(caller: Caller, task: Task) -> User | None:
    """Who a repetition of `task` is for. Who may not see what it is about repeats it for whoever asked first: a task's own
    people see what it names."""
    return caller.user if may_see(caller, task) else task.created_by


def tasks_page(
    caller: Caller, before: int | None = None, filters: Filters | None = None, size: int = PAGE
) -> tuple[list[Progress], int | None]:
    """Newest first; the second value is the cursor of the next page, None at the end."""
    rows = tasks(caller, filters).defer("payload", "result", "again", "history")
    if before is not None:
        rows = rows.filter(id__lt=before)
    found = list(rows.order_by("-id")[: size + 1])
    now = timezone.now()
    return [progress(row, caller, now) for row in found[:size]], found[size - 1].pk if len(found) > size else None


def progress(task: Task, caller: Caller, now: datetime | None = None) -> Progress:
    now = now or timezone.now()
    share = min(1.0, task.done / task.total) if task.total else None
    took = ((task.finished_at or now) - task.started_at).total_seconds() if task.started_at else None
    rate = _rate(task, now)
    left = (task.total - task.done) / rate if rate and task.total is not None and task.total > task.done else None
    return Progress(task, share, rate, left, took, caller.may_ingest(task.team_id), may_see(caller, task))


def _rate(task: Task, now: datetime) -> float | None:
    """The speed last measured (dshweb.tasks.progress.Speed), while it still says something."""
    if task.state != State.RUNNING or not task.rate or task.sampled_at is None:
        return None
    patience = max(STALLED_SECONDS, min(3 / task.rate, 3600))
    return task.rate if now - task.sampled_at <= timedelta(seconds=patience) else None


def attempts_of(task: Task) -> list[Attempt]:
    """Every time a worker began this task, newest first, as far as it is remembered."""
    found = [
        Attempt(_moment(row.get("startedAt")), _moment(row.get("endedAt")), str(words.ENDINGS.get(row.get("why"), "")))
        for row in task.history
    ]
    if task.started_at:
        found.append(Attempt(task.started_at, task.finished_at, ""))
    return found[::-1]


def same_work(caller: Caller, task: Task, size: int = 10) -> list[Progress]:
    """Other tasks for the same work, newest first: what was tried before, and what was asked for since."""
    rows = tasks(caller).filter(team=task.team_id, kind=task.kind, key=task.key).exclude(pk=task.pk)
    now = timezone.now()
    return [progress(row, caller, now) for row in rows.defer("payload", "result", "again").order_by("-id")[:size]]


def version(
    caller: Caller, pk: int | None = None, before: int | None = None, filters: Filters | None = None, size: int = PAGE
) -> str:
    """Changes when, and only when, what the page shows of its tasks changes; one light query."""
    rows = Task.objects.for_caller(caller)
    rows = rows.filter(pk=pk) if pk is not None else rows
    rows = rows.filter(filters.q()) if filters else rows
    rows = rows.filter(id__lt=before) if before is not None else rows
    seen = list(rows.order_by("-id").values_list(*VERSIONED)[: size + 1])
    return hashlib.sha256(repr(seen).encode()).hexdigest()[:24]


def _moment(text: Any) -> datetime | None:
    return parse_datetime(text) if isinstance(text, str) else None
