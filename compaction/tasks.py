"""What a worker does for compaction besides its tasks: it holds the settings it found when it started."""

from __future__ import annotations

import logging
from threading import Event

from django.db import DatabaseError, connection

from compaction.services.engine import take_snapshots
from dshweb.tasks.registry import background

log = logging.getLogger(__name__)


@background
def hold_settings(stop: Event) -> None:
    """Takes the engine snapshots once, when the worker starts. A database that is away for a moment is asked again."""
    try:
        while True:
            try:
                take_snapshots()
                return
            except DatabaseError as error:
                log.warning("the settings could not be read: %s", error)
            if stop.wait(5):
                return
    finally:
        connection.close()
