"""The one Celery task: do the row with this id. Its name is what messages carry, so it stays."""

from __future__ import annotations

from dshweb.celery import app
from dshweb.tasks import services


@app.task(name="dshweb.run")
def run_task(task_id: int) -> None:
    services.run(task_id)
