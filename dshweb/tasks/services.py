"""Long work: asked for, done once, told truly.

The row is the truth; the queue only carries its id. A message that is lost, doubled or late changes nothing: only the
row that can be taken is done, and rows nobody was told about are sent again by `reclaim`.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from dshweb.access.models import Team, User
from dshweb.tasks import leases, registry
from dshweb.tasks.models import OPEN, State, Task
from dshweb.tasks.progress import Cancelled, Interrupted, LeaseLost, Progress, stopping
from dshweb.text.lines import storable, storable_name
from dshweb.text.redact import Masker

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 5
MAX_ERROR = 4000
_MASKER = Masker()  # an exception may quote what it stumbled over; a team's own patterns come with a re-scan


def enqueue(
    team: Team | int,
    kind: str,
    key: str,
    payload: dict[str, Any] | None = None,
    label: str = "",
    created_by: User | None = None,
) -> Task:
    """Ask for work. The open task of the same kind and key is returned if there is one.

    Equal work that is already running may have read its input before what you changed: it is run once more after it
    ended, also when it ends because it was cancelled before you asked. The message is sent when the transaction
    commits; a queue that cannot be reached is logged and found later by `reclaim`.
    """
    team_id = team if isinstance(team, int) else team.pk
    same = {"team_id": team_id, "kind": kind, "key": storable_name(key, 200)}
    for _ in range(5):
        # "once more" must reach the row while it still runs; a row that ended in between is not open any more
        Task.unscoped.filter(**same, state=State.RUNNING).update(again=payload or {})
        task = Task.unscoped.filter(**same, state__in=OPEN).first()
        if task:
            return task
        try:
            with transaction.atomic():
                task = Task.unscoped.create(
                    **same, payload=payload or {}, label=storable(label[:300]).text, created_by=created_by
                )
        except IntegrityError:
            continue  # somebody else asked for it this moment
        transaction.on_commit(partial(send, task.pk))
        return task
    raise RuntimeError(f"task {kind} {key!r} opens and ends faster than it can be asked for")


def send(task_id: int) -> bool:
    """Tell a worker about the row. A failure is logged, never raised: the row stays queued."""
    try:
        from dshweb.tasks.tasks import run_task

        run_task.apply_async((task_id,), retry=False)
    except Exception as error:
        log.warning("task %s stays queued, the queue cannot be reached: %s: %s", task_id, type(error).__name__, error)
        return False
    return True


def run(task_id: int) -> bool:
    """Do the task, if it is free to be done. False: it was not (done already, being done, cancelled, gone)."""
    lease = leases.take(task_id)
    if lease is None:
        return False
    try:
        _work(Task.unscoped.get(pk=task_id), lease)
    finally:
        leases.let_go(lease)
    return True


def _work(task: Task, lease: UUID) -> None:
    """Does a taken task and writes how it ended."""
    progress = Progress(task, lease)
    done: dict[str, Any]
    try:
        progress.step()
        result = registry.find(task.kind)(progress, task.payload)
        done = {"state": State.DONE, "result": result} | progress.fields()
    except Cancelled:
        done = {"state": State.CANCELLED} | progress.fields()
    except LeaseLost:
        log.warning("task %s (%s) was given to another worker; this one lets go of it", task.pk, task)
        return
    except Interrupted:
        _give_back(task, lease)
        return
    except Exception as error:
        log.exception("task %s (%s) failed", task.pk, task)
        reason = storable(_MASKER.mask_text(f"{type(error).__name__}: {error}"[:MAX_ERROR])).text
        done = {"state": State.FAILED, "error": reason} | progress.fields()
    except BaseException:
        _give_back(task, lease)
        raise
    with transaction.atomic():
        if leases.release(task.pk, lease, finished_at=timezone.now(), **done):
            _once_more(task.pk)
        else:
            log.warning("task %s (%s) was given to another worker before it ended here", task.pk, task)


def _give_back(task: Task, lease: UUID) -> None:
    """Back to the queue, not counted as an attempt: the process ends, the work is not to blame."""
    queued = {"state": State.QUEUED, "queued_at": timezone.now()}
    history = leases.tried(task, "given-back")
    leases.release(task.pk, lease, **queued, attempts=max(0, task.attempts - 1), started_at=None, history=history)


def _once_more(task_id: int) -> None:
    """If the same work was asked for while it ran (and not called off since), ask for it now."""
    task = Task.unscoped.get(pk=task_id)
    if task.again is None:
        return
    enqueue(task.team_id, task.kind, task.key, task.again, task.label, task.created_by)


def cancel(task: Task) -> bool:
    """Cancel a queued task now, a running one at its next step. False: it had ended already.

    What was asked for before is called off with it; what is asked for from now on is not.
    """
    row, asked = Task.unscoped.filter(pk=task.pk), {"cancel_requested": True, "again": None}
    ended = {
        "state": State.CANCELLED,
        "finished_at": timezone.now(),
        "lease_id": None,
        "lease_until": None,
        "holder": "",
    }
    if row.filter(leases.free()).update(**asked, **ended):
        return True
    return bool(row.filter(state=State.RUNNING).update(**asked))


def retry(task: Task, by: User | None = None) -> Task:
    """A fresh task for the work of one that failed or was cancelled; an open one is returned as it is."""
    if task.state in OPEN:
        return task
    return enqueue(task.team_id, task.kind, task.key, task.payload, task.label, by or task.created_by)


def reclaim(limit: int = 100, older_than: float = 0) -> int:
    """Find work that was lost and send it again; the number of rows sent.

    Lost are running rows whose lease is over or whose process is dead, and queued rows whose message never arrived (a
    queued row that waits behind others looks the same: sending it twice does no harm, so only the oldest `limit` are
    sent, and only those that wait longer than `older_than` seconds). A row whose worker died `MAX_ATTEMPTS` times is
    not tried again.
    """
    found: list[int] = []
    for task in Task.unscoped.filter(state=State.RUNNING):
        over = task.lease_until is None or task.lease_until < timezone.now()
        if not (over or leases.is_dead(task.holder)):
            continue
        mine = Task.unscoped.filter(pk=task.pk, state=State.RUNNING, lease_id=task.lease_id)
        ended = {"lease_id": None, "lease_until": None, "holder": ""}
        if not task.cancel_requested and task.attempts < MAX_ATTEMPTS:
            history = leases.tried(task, "worker-died")
            mine.update(state=State.QUEUED, queued_at=timezone.now(), started_at=None, history=history, **ended)
            found.append(task.pk)
            continue
        error = f"WorkerDied: {task.attempts} workers ended while doing this; not tried again"
        how = {"state": State.CANCELLED} if task.cancel_requested else {"state": State.FAILED, "error": error}
        with transaction.atomic():
            if mine.update(finished_at=timezone.now(), **how, **ended):
                _once_more(task.pk)
    long_enough = Q(queued_at__lte=timezone.now() - timedelta(seconds=older_than)) | Q(pk__in=found)
    waiting = Task.unscoped.filter(long_enough, state=State.QUEUED)
    return sum(send(pk) for pk in waiting.order_by("id").values_list("pk", flat=True)[:limit])


def drain(team: Team | int | None = None) -> int:
    """Do every free task here and now, oldest first, and those that come of them; the number done."""
    rows = Task.unscoped.all() if team is None else Task.unscoped.filter(team=team)
    count = 0
    while not stopping.is_set():
        pk = rows.filter(leases.free()).order_by("id").values_list("pk", flat=True).first()
        if pk is None:
            break
        count += run(pk)
    return count
