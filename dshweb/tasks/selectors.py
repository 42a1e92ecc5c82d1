"""Questions about the queue as a whole (health page, commands)."""

from __future__ import annotations

from django.utils import timezone

from dshweb.tasks.models import State, Task, Worker

BEAT_SECONDS = 5
ALIVE_SECONDS = 30


def worker_seen() -> float | None:
    """Seconds since some worker gave its last sign of life; None when none ever did (or all ended in order)."""
    last = Worker.objects.order_by("-seen_at").values_list("seen_at", flat=True).first()
    return None if last is None else max(0.0, (timezone.now() - last).total_seconds())


def worker_alive() -> bool:
    """Whether some worker has given a sign of life lately."""
    seen = worker_seen()
    return seen is not None and seen <= ALIVE_SECONDS


def queue_age() -> float | None:
    """Seconds the oldest waiting task has been waiting; None when none waits."""
    oldest = (
        Task.unscoped.filter(state=State.QUEUED).order_by("created_at").values_list("created_at", flat=True).first()
    )
    return None if oldest is None else max(0.0, (timezone.now() - oldest).total_seconds())
