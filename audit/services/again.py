"""Asks for audits anew, e.g. after a policy has changed. What has a record under the policy in force is left out."""

from __future__ import annotations

from dshweb.access.models import Team, User
from dshweb.sessionlog.models import Compaction, LogFile
from dshweb.tasks.models import Task
from dshweb.tasks.services import enqueue


def audit_log_again(log: LogFile, by: User | None) -> Task:
    """One task a log; asked for twice while it waits, it is one."""
    return enqueue(log.team_id, "audit", f"log:{log.pk}", {"log": log.pk}, log.session.session_id, by)


def audit_team_again(team: Team, by: User | None) -> int:
    """The number of logs with at least one summary, for each of which a task is open now."""
    with_summary = Compaction.objects.for_team(team).filter(summary_seq__isnull=False).values("log")
    logs = (
        LogFile.objects.for_team(team)
        .filter(pk__in=with_summary)
        .select_related("session")
        .only("team", "session__session_id")
    )
    count = 0
    for count, log in enumerate(logs.order_by("id"), 1):  # noqa: B007
        audit_log_again(log, by)
    return count
