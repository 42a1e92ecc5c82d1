"""`/healthz`: this process answers. `/readyz`: what it needs to do its work is there.

Readiness is shown by doing: the database is written to, the worker must have been seen. Both are open to everyone
(load balancers, monitors), so details are words and numbers, never a path, an address or an error's own text.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from uuid import uuid4

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import Error, transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dshweb import schema
from dshweb.tasks import selectors
from dshweb.tasks.models import Worker

DISK_FREE_BYTES = 256 << 20
QUEUE_AGE_SECONDS = 15 * 60

Check = tuple[bool, str]
_tables_seen = False


def database() -> Check:
    """A row is written and taken back: a database that only reads is not ready."""
    with transaction.atomic():
        Worker.objects.create(name=f"readyz {uuid4()}", started_at=timezone.now(), seen_at=timezone.now())
        transaction.set_rollback(True)
    return True, "written to"


def tables() -> Check:
    """Asked until the answer is good: tables do not vanish while this code runs."""
    global _tables_seen
    missing = [] if _tables_seen else schema.pending()
    _tables_seen = not missing
    return not missing, f"{len(missing)} migrations to apply" if missing else "up to date"


def worker() -> Check:
    seen = selectors.worker_seen()
    if seen is None:
        return False, "no worker has been seen"
    return seen <= selectors.ALIVE_SECONDS, f"last seen {seen:.0f} s ago"


def queue() -> Check:
    age = selectors.queue_age()
    if age is None:
        return True, "nothing waits"
    return age <= QUEUE_AGE_SECONDS, f"the oldest task has waited {age:.0f} s"


def disk() -> Check:
    free = shutil.disk_usage(settings.DATA_DIR).free
    return free >= DISK_FREE_BYTES, f"{free >> 20} MiB free"


CHECKS: dict[str, Callable[[], Check]] = {
    "database": database,
    "schema": tables,
    "worker": worker,
    "queue": queue,
    "disk": disk,
}


def _answer(check: Callable[[], Check]) -> dict[str, object]:
    try:
        ok, detail = check()
    except (Error, OSError) as error:
        ok, detail = False, type(error).__name__
    return {"ok": ok, "detail": detail}


@never_cache
@login_not_required
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok\n", content_type="text/plain")


@never_cache
@login_not_required
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    answers = {name: _answer(check) for name, check in CHECKS.items()}
    ok = all(answer["ok"] for answer in answers.values())
    return JsonResponse({"ok": ok, "checks": answers}, status=200 if ok else 503)
