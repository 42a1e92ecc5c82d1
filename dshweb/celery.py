"""The queue. With REDIS_URL it is Redis; without, files under the data folder and one worker process.

A message only carries the id of a task row; the row is the truth (dshweb.tasks). Losing a message therefore loses nothing.
"""

from __future__ import annotations

import os
from pathlib import Path

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dshweb.settings")


def _config() -> dict[str, object]:
    from django.conf import settings

    common: dict[str, object] = {
        "task_ignore_result": True,
        "task_serializer": "json",
        "accept_content": ["json"],
        "broker_connection_retry_on_startup": True,
        "worker_prefetch_multiplier": 1,
        "worker_hijack_root_logger": False,
        "worker_send_task_events": False,
        "imports": ["dshweb.tasks.tasks"],
    }
    if settings.REDIS_URL:
        return common | {"broker_url": settings.REDIS_URL}
    folder = Path(settings.DATA_DIR) / "queue"
    folder.mkdir(parents=True, exist_ok=True)
    return common | {
        "broker_url": "filesystem://",
        "broker_transport_options": {
            "data_folder_in": str(folder),
            "data_folder_out": str(folder),
            "control_folder": str(folder / "control"),
            "polling_interval": 0.2,
        },
    }


app = Celery("dshweb")
app.config_from_object(_config())
