"""Who holds a task row: taken, renewed and given back by compare-and-set on `lease_id`, never by a lock.

A lease ends when its time is over, or at once when the process that took it is known to be dead: `holder` names host,
process and run (`host/pid/run`), so that a restarted worker need not wait for the leases of the killed one.
"""

from __future__ import annotations

import os
import socket
import threading
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db.models import F, Q
from django.utils import timezone

from dshweb.tasks.models import State, Task

RUN = uuid4().hex[:8]
MAX_HISTORY = 20
_held: set[UUID] = set()
_held_lock = threading.Lock()


def holder() -> str:
    """This process: `host/pid/run`. The run tells it from another process that had the same number."""
    return f"{socket.gethostname()[:60]}/{os.getpid()}/{RUN}"


def _until() -> datetime:
    return timezone.now() + timedelta(seconds=settings.TASK_LEASE_SECONDS)


def free() -> Q:
    """Rows that may be taken: queued ones, and running ones whose lease is over."""
    return Q(state=State.QUEUED) | Q(state=State.RUNNING, lease_until__lt=timezone.now())


def take(task_id: int) -> UUID | None:
    """Take the row if it is free. Of any number of takers at most one gets a lease; the others get None."""
    lease, row = uuid4(), Task.unscoped.filter(pk=task_id)
    left = row.filter(state=State.RUNNING).only("history", "started_at").first()
    if left:  # its lease is over and nobody has looked yet
        row = row.filter(lease_id=left.lease_id)
    taken = row.filter(free()).update(
        state=State.RUNNING,
        lease_id=lease,
        lease_until=_until(),
        holder=holder(),
        attempts=F("attempts") + 1,
        started_at=timezone.now(),
        finished_at=None,
        error="",
        done=0,
        total=None,
        rate=None,
        sampled_at=None,
        **({"history": tried(left, "worker-died")} if left else {}),
    )
    if not taken:
        return None
    with _held_lock:
        _held.add(lease)
    return lease


def tried(task: Task, why: str) -> list[dict[str, Any]]:
    """The task's history with the attempt that ends now; of many, the last `MAX_HISTORY`."""
    started = task.started_at.isoformat() if task.started_at else None
    ended = {"startedAt": started, "endedAt": timezone.now().isoformat(), "why": why}
    return [*task.history, ended][-MAX_HISTORY:]


def renew(task_id: int, lease: UUID, **fields: Any) -> bool:
    """Move the lease on, writing `fields` too. False: the row belongs to somebody else."""
    return bool(
        Task.unscoped.filter(pk=task_id, lease_id=lease, state=State.RUNNING).update(lease_until=_until(), **fields)
    )


def let_go(lease: UUID) -> None:
    """This process is no longer at work under the lease, however that ended; the row is not touched."""
    with _held_lock:
        _held.discard(lease)


def release(task_id: int, lease: UUID, **fields: Any) -> bool:
    """End the lease, writing `fields`. False: the row belonged to somebody else and nothing was written."""
    let_go(lease)
    return bool(
        Task.unscoped.filter(pk=task_id, lease_id=lease, state=State.RUNNING).update(
            lease_id=None, lease_until=None, holder="", **fields
        )
    )


def renew_held() -> None:
    """Renew every lease of this process: a slow task keeps its row as long as its process lives."""
    with _held_lock:
        held = list(_held)
    if held:
        Task.unscoped.filter(lease_id__in=held, state=State.RUNNING).update(lease_until=_until())


def busy() -> bool:
    """Whether this process is doing a task now."""
    return bool(_held)


def is_dead(name: str) -> bool:
    """Whether the holder called `name` surely lives no more. A holder on another host is never known to be dead."""
    try:
        host, pid, run = name.split("/")
        if host != holder().split("/")[0]:
            return False
        if int(pid) == os.getpid():
            return run != RUN
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except (ValueError, OSError):
        return False
    return False
