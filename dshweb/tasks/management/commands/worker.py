"""Does the tasks. `serve` starts one; run more of them on other machines when the queue is Redis."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import warnings
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from dshweb import schema
from dshweb.tasks import progress, registry
from dshweb.tasks.beat import Beat

log = logging.getLogger("dshweb.worker")


class Command(BaseCommand):
    help = "Does queued tasks (imports, audits) until it is told to stop. Example: python manage.py worker"
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--with-parent", action="store_true", help="end when the process that started it ends")

    def handle(self, *args: Any, **options: Any) -> None:
        # until Celery has its own handlers
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: progress.stopping.set())
        if not schema.wait(progress.stopping, say=lambda lacking: log.info("waiting: %s", lacking)):
            return
        self._work(os.getppid() if options["with_parent"] else None)

    def _work(self, parent: int | None) -> None:
        # Celery would run all system checks, which load every page of the product into the worker
        os.environ.setdefault("CELERY_SKIP_CHECKS", "1")
        # it advises against root; whether that is so is the operator's business, and containers often are
        warnings.filterwarnings("ignore", message="You're running the worker with superuser privileges")
        from celery.signals import setup_logging, worker_ready, worker_shutting_down
        from celery.worker import state

        from dshweb.celery import app

        logging.getLogger("celery").setLevel(logging.WARNING)  # two lines a task say less than the task's row
        registry.load()
        beat = Beat(parent=parent)

        def ready(**_: Any) -> None:
            if progress.stopping.is_set():  # told so while Celery started and had no handlers yet
                state.should_stop = 0
                return
            beat.start()
            for function in registry.backgrounds():
                threading.Thread(
                    target=function, args=(progress.stopping,), name=function.__name__, daemon=True
                ).start()
            log.info("worker %s is ready (queue: %s)", os.getpid(), "Redis" if settings.REDIS_URL else "data folder")

        def ending(**_: Any) -> None:
            progress.stopping.set()

        setup_logging.connect(lambda **_: None, weak=False)  # Django's logging stays
        worker_ready.connect(ready, weak=False)
        worker_shutting_down.connect(ending, weak=False)
        worker = app.Worker(pool="solo", quiet=True, without_gossip=True, without_mingle=True, without_heartbeat=True)
        if progress.stopping.is_set():
            return
        worker.start()
        if beat.is_alive():
            beat.end()
        log.info("worker %s has ended", os.getpid())
        sys.exit(worker.exitcode or 0)
