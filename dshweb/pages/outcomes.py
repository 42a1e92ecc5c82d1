"""What came of the tasks that bring logs in and audit them: numbers in words, and ways to what was made."""

from __future__ import annotations

from typing import Any

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from audit.models import Audit
from dshweb.access.callers import Caller
from dshweb.sessionlog.models import Session, SourceFile
from dshweb.sessionlog.selectors import may_see_content
from dshweb.tasks.models import Task
from dshweb.tasks.outcomes import Link, Outcome, outcome_of

SHOWN = 20
WORDS = {
    "ok": lambda n: ngettext("%(n)s intact", "%(n)s intact", n),
    "damaged": lambda n: ngettext("%(n)s damaged", "%(n)s damaged", n),
    "unsupported": lambda n: ngettext("%(n)s of a format not supported yet", "%(n)s of a format not supported yet", n),
    "failed": lambda n: ngettext("%(n)s could not be read", "%(n)s could not be read", n),
}


@outcome_of("ingest")
def ingest(caller: Caller, task: Task) -> Outcome:
    """The counts of the run, and the files it read, those to look at first."""
    files = _files(caller, task)
    links = [_file(caller, file) for file in files[:SHOWN]]
    return Outcome(_counts(task.result or {}), links, max(0, len(files) - SHOWN))


@outcome_of("upload")
@outcome_of("push")
def handed_in(caller: Caller, task: Task) -> Outcome:
    """The state of the one log, and the session it belongs to."""
    result = task.result or {}
    states = {
        "ok": _("intact"), "damaged": _("damaged"), "unsupported": _("format not supported yet"),
        "failed": _("could not be read"),
    }  # fmt: skip
    lines = [states[result["status"]]] if result.get("status") in states else []
    if result.get("changed") is False:
        lines.append(_("nothing in it was new"))
    rows = Session.objects.for_caller(caller).filter(pk=_number(result, "session")).select_related("team")
    log = _number(result, "log")
    return Outcome(lines, [
        Link(_name(caller, row), f"{reverse('session', args=[row.pk])}?log={log}", str(result.get("name", ""))) for row in rows
    ])  # fmt: skip


@outcome_of("audit")
def audit(caller: Caller, task: Task) -> Outcome:
    """The records it made."""
    made = [pk for pk in (task.result or {}).get("audits") or [] if isinstance(pk, int)]
    rows = Audit.objects.for_caller(caller).filter(pk__in=made[: SHOWN * 5])
    rows = rows.select_related("compaction__session__team").defer("record", "compaction__summary").order_by("pk")
    if not made:
        return Outcome([_("Every compaction of the log had its audit already.")])
    lines = [ngettext("%(n)s audit made", "%(n)s audits made", len(made)) % {"n": len(made)}]
    return Outcome(lines, [_audit(caller, row) for row in rows[:SHOWN]], max(0, len(made) - SHOWN))


@outcome_of("rescan")
def rescan(_caller: Caller, task: Task) -> Outcome:
    logs, records = _number(task.result, "logs"), _number(task.result, "records")
    return Outcome([
        ngettext("%(n)s log masked anew", "%(n)s logs masked anew", logs) % {"n": logs},
        ngettext("%(n)s audit record masked anew", "%(n)s audit records masked anew", records) % {"n": records},
    ])  # fmt: skip


def _counts(result: dict[str, Any]) -> list[str]:
    logs, changed = _number(result, "logs"), _number(result, "changed")
    how = [WORDS[name](n) % {"n": n} for name, n in _members(result, "status").items() if n and name in WORDS]
    total = ngettext("%(n)s log seen", "%(n)s logs seen", logs) % {"n": logs}
    lines = [f"{total}: {', '.join(how)}" if how else total]
    lines.append(ngettext("%(n)s was new or had grown", "%(n)s were new or had grown", changed) % {"n": changed})
    completed = _number(result.get("compactions"), "completed")
    if completed:
        lines.append(ngettext("%(n)s compaction in them", "%(n)s compactions in them", completed) % {"n": completed})
    passed = sum(n for n in _members(result, "passedOver").values() if isinstance(n, int))
    if passed:
        lines.append(ngettext("%(n)s file is no log and was passed over", "%(n)s files are no logs and were passed over",
                              passed) % {"n": passed})  # fmt: skip
    return lines


def _files(caller: Caller, task: Task) -> list[SourceFile]:
    """Files at or below the task's path that were read since it began, troubled ones first; enough to know of more."""
    path = task.payload.get("path")
    if not isinstance(path, str) or not path or task.started_at is None:
        return []
    below = Q(location=path) | Q(location__gte=path.rstrip("/") + "/", location__lt=path.rstrip("/") + "0")
    rows = SourceFile.objects.for_caller(caller).filter(below, team=task.team_id)
    rows = rows.filter(Q(read_at__gte=task.started_at) | ~Q(error=""))
    rows = rows.select_related("log__session__team").defer(
        "report", "log__state", "log__header", "log__damage", "log__accounting"
    )
    return list(rows.order_by("-error", "-id")[: SHOWN * 5])


def _file(caller: Caller, file: SourceFile) -> Link:
    if file.log is None:
        return Link(file.location.rsplit("/", 1)[-1], note=file.error, wrong=bool(file.error))
    session = file.log.session
    return Link(_name(caller, session), f"{reverse('session', args=[session.pk])}?log={file.log_id}",
                file.error or file.log.file_name, wrong=bool(file.error))  # fmt: skip


def _audit(caller: Caller, row: Audit) -> Link:
    found = ngettext(
        "%(n)s of %(all)s facts without a source", "%(n)s of %(all)s facts without a source", row.asserted or 0
    )
    note = "" if row.asserted is None else found % {"n": row.unverified, "all": row.asserted}
    compaction = row.compaction
    text = f"{_name(caller, compaction.session)} · {_('Compaction')} {compaction.compaction_id[:12]}"
    return Link(text, reverse("compaction", args=[compaction.pk]), note)


def _name(caller: Caller, session: Session) -> str:
    return session.title if session.title and may_see_content(caller, session) else session.session_id


def _members(value: Any, name: str) -> dict[str, Any]:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _number(value: Any, name: str) -> int:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, int) else 0
