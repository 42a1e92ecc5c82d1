"""Whether the database has the tables this code needs (a worker waits for them, `/readyz` tells)."""

from __future__ import annotations

import threading
from collections.abc import Callable

from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor


def pending() -> list[str]:
    """Migrations of this code the database has not had, as `app.name`. Raises django.db.Error when it cannot be asked."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [f"{migration.app_label}.{migration.name}" for migration, _ in plan]


def state() -> str:
    """Empty when everything is there, else what is missing in a few words."""
    try:
        missing = pending()
    except Error as error:
        return f"the database cannot be asked ({type(error).__name__})"
    finally:
        connection.close()
    return f"{len(missing)} migrations to apply (first {missing[0]})" if missing else ""


def wait(stop: threading.Event, say: Callable[[str], object], every: float = 1.0) -> bool:
    """Wait until the schema is there, telling `say` once per reason. False when `stop` was set before."""
    told = ""
    while not stop.is_set():
        lacking = state()
        if not lacking:
            return True
        if lacking != told:
            say(lacking)
            told = lacking
        stop.wait(every)
    return False
