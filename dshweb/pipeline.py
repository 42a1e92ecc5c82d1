"""What follows what: found → imported → audited. The only module where the work of one app sets off that of another."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from django.db import connection
from django.db.models.signals import post_save
from django.dispatch import receiver

from compaction.services import catalogue, facts, profiles
from dshweb.access.models import Team, User
from dshweb.sessionlog.models import Compaction, LogFile, Source
from dshweb.sessionlog.services import clearing, pieces, sources, uploads
from dshweb.sessionlog.services.delete import sweep
from dshweb.sessionlog.services.files import text_to_path
from dshweb.sessionlog.services.ingest import Import, ingest_path
from dshweb.sessionlog.services.mask_notes import mask_notes
from dshweb.sessionlog.services.masking import masker_for
from dshweb.sessionlog.services.rebuild import rebuild_log
from dshweb.sessionlog.services.report import Totals
from dshweb.sessionlog.services.requests import request_ingest
from dshweb.sessionlog.services.watch import Folders
from dshweb.sessionlog.signals import compactions_changed, log_imported, tell_imported
from dshweb.tasks.progress import Progress
from dshweb.tasks.registry import background, task_kind
from dshweb.tasks.services import enqueue

logger = logging.getLogger(__name__)

KEEP_SECONDS = 60


@receiver(post_save, sender=Team)
def give_a_new_team_its_own(*, instance: Team, created: bool, raw: bool = False, **_more: Any) -> None:
    """A default profile and the shipped model routes; teams of before got theirs by migration."""
    if created and not raw:
        catalogue.seed(instance.pk)
        profiles.default_of(instance)


@receiver(log_imported)
def keep_its_facts(*, log: LogFile, **_more: Any) -> None:
    """Mostly there already, made in the import's own pass; one query then."""
    facts.catch_up(log)


@receiver(log_imported)
def audit_what_arrived(*, log: LogFile, inline: bool, **_more: Any) -> None:
    if inline:
        if _has_to_be_judged(log):
            _audit(log)
    else:
        enqueue(log.team_id, "audit", f"log:{log.pk}", {"log": log.pk}, label=log.session.session_id)


def _has_to_be_judged(log: LogFile) -> bool:
    """Whether there are attempts, or a session that shows what was said of earlier ones."""
    shown = log.session.audit_result or log.session.attention is not None
    return bool(shown) or Compaction.unscoped.filter(session=log.session_id).exists()


def _audit(log: LogFile, on_progress: Callable[[int, int], None] | None = None) -> list[Any]:
    # the audit brings hundreds of patterns, which a command that has nothing to judge should not wait for
    from audit.services.run import audit_log

    return audit_log(log, on_progress=on_progress)


@receiver(compactions_changed)
def forget_what_was_of_other_rows(*, compactions: list[int], **_more: Any) -> None:
    from audit.services.run import forget

    forget(compactions)


@task_kind("ingest")
def ingest(progress: Progress, payload: dict[str, Any]) -> dict[str, Any]:
    """Payload: `path`, and `owner` (user id or null). Progress counts bytes of the log that is being read."""
    totals = Totals()
    run = Import.by(Team.objects.get(pk=progress.team_id), User.objects.filter(pk=payload.get("owner") or 0).first())
    ingest_path(
        text_to_path(payload["path"]),
        run=run,
        totals=totals,
        on_progress=lambda _path, done, total: progress.step(done, total, "bytes"),
    )
    return totals.to_json()


@task_kind(uploads.KIND)
def upload(progress: Progress, payload: dict[str, Any]) -> dict[str, Any]:
    """One file that was handed in (services.uploads); progress counts its bytes."""
    return uploads.take_in(_team(progress), payload, lambda done, total: progress.step(done, total, "bytes"))


@task_kind(pieces.KIND)
def push(progress: Progress, payload: dict[str, Any]) -> dict[str, Any]:
    """What a collector sent of one log (services.pieces); progress counts its bytes."""
    return pieces.take_in(_team(progress), payload, lambda done, total: progress.step(done, total, "bytes"))


def _team(progress: Progress) -> Team:
    return Team.objects.get(pk=progress.team_id)


@task_kind("rescan")
def rescan(progress: Progress, payload: dict[str, Any]) -> dict[str, Any]:
    """Masks all stored text of the team anew under the patterns in force; progress counts logs."""
    masking = masker_for(progress.team_id).version
    # the step that carries the new patterns may not be the last one: a log is done when it was read to its end
    logs = LogFile.unscoped.filter(team=progress.team_id).only("id", "team_id", "stored")
    stale = list(logs.exclude(masking=masking, complete=True).order_by("id"))
    for done, log in enumerate(stale):
        progress.step(done, len(stale), "logs")
        # other logs of the team go on being read when the bytes of one are gone
        try:
            fresh = rebuild_log(log, on_progress=lambda *_: progress.step())
        except (FileNotFoundError, LogFile.DoesNotExist) as error:  # the latter: deleted meanwhile
            logger.error("not masked anew: %s", error)
            continue
        tell_imported(fresh, inline=False)
    mask_notes(progress.team_id)
    from audit.services.mask_again import mask_records
    from audit.services.review import mask_review_notes

    mask_review_notes(progress.team_id)
    records = mask_records(progress.team_id, on_progress=lambda done, total: progress.step(done, total, "logs"))
    return {"logs": len(stale), "records": records}


@contextmanager
def _survived(what: str) -> Iterator[None]:
    """A database that is away for a moment must not end a thread."""
    try:
        yield
    except Exception as error:
        logger.warning("%s: %s: %s", what, type(error).__name__, error)
    finally:
        connection.close()


@background
def follow_watched_sources(stop: Event) -> None:
    """Looks at the folders marked "watch" every WATCH_POLL_SECONDS; what is new becomes a task."""
    known: dict[int, Folders] = {}
    while not stop.wait(settings.WATCH_POLL_SECONDS):
        with _survived("watched sources"):
            for source in Source.unscoped.filter(watch=True).order_by("id"):
                folders = known.setdefault(source.pk, Folders([Path(source.path)]))
                if not folders.there():
                    sources.vanished(source.team_id, Path(source.path))
                for path in folders.changed():
                    request_ingest(source.team_id, path, owner=source.owner_id)


@background
def keep_house(stop: Event) -> None:
    """Once a day, and when a worker starts."""
    while True:
        with _survived("cleaning up"):
            clean_up()
        if stop.wait(86_400):
            return


def clean_up() -> None:
    """Stored logs that no row names go (dshweb.sessionlog.services.delete), and logins that are over."""
    from audit.services.attention import settle_missing

    settle_missing()
    facts.settle_missing()
    found = sweep()
    if found:
        logger.warning("%s stored logs without a row were deleted", found)
    SessionStore.clear_expired()


@background
def keep_the_inbox(stop: Event) -> None:
    """Asks for what was received and never read, and clears what nobody will ask for, once a minute."""
    while not stop.wait(KEEP_SECONDS):
        with _survived("the inbox"):
            for row in clearing.unread():
                pieces.request_reading(row, None)
            clearing.sweep()


@task_kind("audit")
def audit(progress: Progress, payload: dict[str, Any]) -> dict[str, Any]:
    """Payload: `log`. Audits what has no record under the policy in force; progress counts compactions."""
    log = LogFile.unscoped.filter(pk=payload["log"]).first()
    try:
        made = _audit(log, lambda done, total: progress.step(done, total, "compactions")) if log else []
    except (OSError, LogFile.DoesNotExist):
        if LogFile.unscoped.filter(pk=payload["log"]).exists():
            raise
        made = []  # its session was deleted while it was audited
    return {"audits": [audit.pk for audit in made]}
