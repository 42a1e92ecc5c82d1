"""Asks for tasks and tells about them, in a process of its own (tests of real worker processes use it).

`python -m tests.ask enqueue KIND KEY FILE` prints the row's id; `python -m tests.ask show` prints every row as JSON.
"""

from __future__ import annotations

import json
import sys

import django

django.setup()

from dshweb.access.models import Team  # noqa: E402
from dshweb.tasks import services  # noqa: E402
from dshweb.tasks.models import Task, Worker  # noqa: E402

if sys.argv[1] == "enqueue":
    kind, key, path = sys.argv[2:5]
    task = services.enqueue(Team.objects.get(slug="main"), kind, key, {"file": path})
    for _ in range(int(sys.argv[5]) if len(sys.argv) > 5 else 0):
        services.send(task.pk)
    sys.stdout.write(f"{task.pk}\n")
else:
    rows = Task.unscoped.order_by("pk").values("pk", "kind", "state", "attempts", "result", "error")
    sys.stdout.write(json.dumps({"tasks": list(rows), "workers": Worker.objects.count()}) + "\n")
