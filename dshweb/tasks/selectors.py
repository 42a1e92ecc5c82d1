"""Questions about the queue as a whole (health page, commands)."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Min
from django.utils import timezone

from dshweb.tasks import leases
from dshweb.tasks.models import State, Task, Worker

BEAT_SECONDS = 5
ALIVE_SECONDS = 30


def worker_seen() -> float | None:
    """Seconds since some worker gave its last sign of life; None when none ever did (or all ended in order)."""
    last = Worker.objects.order_by("-seen_at").values_list("seen_at", flat=True).first()
    return None if last is None else max(0.0, (timezone.now() - last).total_seconds())


def worker_alive() -> bool:
    """Whether some worker has given a sign of life lately. One of this machine that is surely gone does not count."""
    lately = Worker.objects.filter(seen_at__gte=timezone.now() - timedelta(seconds=ALIVE_SECONDS))
    return any(not leases.is_dead(name) for name in lately.values_list("name", flat=True))


def queue_age() -> float | None:
    """Seconds the oldest waiting task has been waiting since it was last queued; None when none waits."""
    oldest = Task.unscoped.filter(state=State.QUEUED).aggregate(at=Min("queued_at"))["at"]
    return None if oldest is None else max(0.0, (timezone.now() - oldest).total_seconds())
