"""What follows what: found → imported → audited. The only module that knows all apps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.dispatch import receiver

from audit.services.run import audit_log
from dshweb.access.models import Team, User
from dshweb.sessionlog.models import LogFile
from dshweb.sessionlog.services.ingest import Import, ingest_path
from dshweb.sessionlog.services.report import Totals
from dshweb.sessionlog.signals import log_imported
from dshweb.tasks.progress import Progress
from dshweb.tasks.registry import task_kind
from dshweb.tasks.services import enqueue


@receiver(log_imported)
def audit_what_arrived(*, log: LogFile, inline: bool, **_more: Any) -> None:
    if inline:
        audit_log(log)
    else:
        enqueue(log.team_id, "audit", f"log:{log.pk}", {"log": log.pk}, label=str(log.session))


@task_kind("ingest")
def ingest(progress: Progress, payload: dict[str, Any]) -> dict[str, Any]:
    """Payload: `path`, and `owner` (user id or null). Progress counts bytes of the log that is being read."""
    totals = Totals()
    run = Import.by(Team.objects.get(pk=progress.team_id), User.objects.filter(pk=payload.get("owner")).first())
    ingest_path(
        Path(payload["path"]),
        run=run,
        totals=totals,
        on_progress=lambda _path, done, total: progress.step(done, total, "bytes"),
    )
    return totals.to_json()


@task_kind("audit")
def audit(progress: Progress, payload: dict[str, Any]) -> dict[str, Any]:
    """Payload: `log`. Audits what has no record under the policy in force; progress counts compactions."""
    log = LogFile.unscoped.filter(pk=payload["log"]).first()
    made = audit_log(log, on_progress=lambda done, total: progress.step(done, total, "compactions")) if log else []
    return {"audits": [audit.pk for audit in made]}
