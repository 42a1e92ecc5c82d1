"""What a task function is given: says how far it is, and hears that it should stop."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.utils import timezone

from dshweb.tasks import leases
from dshweb.tasks.models import Task

WRITE_SECONDS = 1.0
SMOOTH_SECONDS = 10.0  # a change of speed shows to two thirds after this long

# Set when this process was asked to end: running tasks go back to the queue at their next step.
stopping = threading.Event()


class Stop(Exception):
    """Leaves a task function early. Task functions let it pass."""


class Cancelled(Stop):
    """Somebody asked for the task to be cancelled."""


class Interrupted(Stop):
    """The process is ending; the task goes back to the queue."""


class LeaseLost(Stop):
    """The row belongs to somebody else by now; nothing more may be written about it."""


class Progress:
    """`step(done, total)` as often as you like: the row is written at most once a second.

    `team_id` and `created_by_id` are those of the task. `done` and `total` count `unit`s; total None means unknown.
    """

    def __init__(self, task: Task, lease: UUID, clock: Callable[[], float] = time.monotonic) -> None:
        self.task_id, self.team_id, self.created_by_id = task.pk, task.team_id, task.created_by_id
        self.lease = lease
        self.done, self.total, self.unit = 0, None, ""  # type: int, int | None, str
        self._clock = clock
        self._written = float("-inf")
        self._speed = Speed()

    def step(self, done: int | None = None, total: int | None = None, unit: str = "") -> None:
        """Note progress and renew the lease. Raises Cancelled, Interrupted or LeaseLost: clean up and let it pass."""
        self.done = self.done if done is None else done
        self.total = self.total if total is None else total
        self.unit = unit or self.unit
        if stopping.is_set():
            raise Interrupted
        now = self._clock()
        if now - self._written < WRITE_SECONDS:
            return
        self._written = now
        self._speed.note(now, self.done, self.unit)
        if not leases.renew(self.task_id, self.lease, **self.fields()):
            raise LeaseLost
        if Task.unscoped.filter(pk=self.task_id, cancel_requested=True).exists():
            raise Cancelled

    def fields(self) -> dict[str, Any]:
        """The columns of the row that tell progress."""
        speed = {"rate": self._speed.rate, "sampled_at": timezone.now()} if self._speed.moved else {}
        return {"done": self.done, "total": self.total, "unit": self.unit} | speed


class Speed:
    """Units a second of late, from what was really done between two looks. None until something was done between two.

    Where counting begins anew (the next log) the speed so far goes on; another unit has none yet.
    """

    def __init__(self) -> None:
        self.rate: float | None = None
        self.moved = False
        self._last: tuple[float, int] | None = None
        self._unit = ""

    def note(self, now: float, done: int, unit: str = "") -> None:
        """`done` units were done at `now`, in seconds of any clock."""
        if unit != self._unit:
            self.rate, self._unit, self._last = None, unit, None
        last = self._last
        self.moved = last is not None and done > last[1] and now > last[0]
        if last is None or done < last[1]:
            self._last = now, done
        elif self.moved:  # else a slow unit: measured when it is done, over all the time it took
            passed = now - last[0]
            fresh, weight = (done - last[1]) / passed, 1 - math.exp(-passed / SMOOTH_SECONDS)
            self.rate = fresh if self.rate is None else self.rate + weight * (fresh - self.rate)
            self._last = now, done
