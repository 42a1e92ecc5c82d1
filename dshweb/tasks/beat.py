"""A worker's sign of life: one thread that marks the worker seen, renews its leases and looks for lost work."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from datetime import timedelta

from django.db import connection
from django.utils import timezone

from dshweb.tasks import leases, services
from dshweb.tasks.models import Worker
from dshweb.tasks.selectors import BEAT_SECONDS

log = logging.getLogger(__name__)

# An idle worker has emptied the queue, so a row that still waits this long has no message.
LOST_SECONDS = 5
FORGET_DAYS = 1


class Beat(threading.Thread):
    """Started with the worker; `end()` stops it and takes the worker off the list.

    With `parent`, a process id, the worker is told to end when that process is no longer its parent.
    """

    def __init__(self, every: float = BEAT_SECONDS, parent: int | None = None) -> None:
        super().__init__(name="beat", daemon=True)
        self._every = every
        self._parent = parent
        self._end = threading.Event()
        self._idle_since = time.monotonic()

    def run(self) -> None:
        now = timezone.now()
        self._try(lambda: Worker.objects.filter(seen_at__lt=now - timedelta(days=FORGET_DAYS)).delete())
        self._try(services.reclaim)
        while not self._end.is_set():
            self._try(self._once)
            if self._parent is not None and os.getppid() != self._parent:
                log.warning("the process that started this worker is gone; ending")
                os.kill(os.getpid(), signal.SIGTERM)
                break
            self._end.wait(self._every)
        self._try(lambda: Worker.objects.filter(name=leases.holder()).delete())

    def end(self, timeout: float = 5) -> None:
        self._end.set()
        self.join(timeout)

    def _once(self) -> None:
        now = timezone.now()
        Worker.objects.update_or_create(
            name=leases.holder(), defaults={"seen_at": now}, create_defaults={"started_at": now, "seen_at": now}
        )
        leases.renew_held()
        if leases.busy():
            self._idle_since = time.monotonic()
        elif time.monotonic() - self._idle_since >= LOST_SECONDS:
            services.reclaim(older_than=LOST_SECONDS)

    def _try(self, act: Callable[[], object]) -> None:
        """A database that is away for a moment must not end the thread."""
        try:
            act()
        except Exception as error:
            log.warning("worker heartbeat: %s: %s", type(error).__name__, error)
        finally:
            connection.close()
