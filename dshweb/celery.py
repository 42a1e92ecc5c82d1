"""The queue. With REDIS_URL it is Redis; without, files under the data folder (see dshweb.tasks.broker).

A message only carries the id of a task row; the row is the truth (dshweb.tasks). Losing a message therefore loses
nothing.
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
        "broker_connection_timeout": 3,
        "worker_prefetch_multiplier": 1,
        "worker_hijack_root_logger": False,
        "worker_send_task_events": False,
        "worker_enable_remote_control": False,
        "worker_pool": "solo",
        "imports": ["dshweb.tasks.tasks"],
    }
    if settings.REDIS_URL:
        # a Redis that is down must not hold up the request that enqueues: the row waits, `reclaim` sends it later
        timeouts = {"socket_connect_timeout": 2, "socket_timeout": 5, "retry_on_timeout": False, "max_retries": 0}
        return common | {"broker_url": settings.REDIS_URL, "broker_transport_options": timeouts}
    from dshweb.tasks import broker

    folder = {"folder": str(Path(settings.DATA_DIR) / "queue"), "polling_interval": 0.1}
    return common | {"broker_url": f"{broker.SCHEME}://localhost//", "broker_transport_options": folder}


app = Celery("dshweb")
app.config_from_object(_config())
