"""A session's row, kept in step with the log that is newest by content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dshweb.sessionlog.core import generations
from dshweb.sessionlog.core.generations import Generation, LogName, parse_log_name
from dshweb.sessionlog.core.scan import Scan
from dshweb.sessionlog.models import LogFile, Message, Outcome, Session
from dshweb.sessionlog.services.fit import SMALL, number, short
from dshweb.sessionlog.services.rows import moment
from dshweb.text.redact import Masker


@dataclass(frozen=True)
class Choice:
    """The session's log that is newest by content, and what is odd about its logs (codes of core.generations)."""

    current: LogFile | None
    warnings: tuple[str, ...]


def choose(session: Session) -> Choice:
    """One rule for all: core.generations. A file with a name DSH would not give is read, but DSH would not open it."""
    logs = list(session.logs.order_by("id"))
    known = [_generation(log) for log in logs]
    choice = generations.choose(known)
    current = next((log for log, seen in zip(logs, known, strict=True) if seen is choice.newest), None)
    return Choice(current, choice.warnings)


def _generation(log: LogFile) -> Generation:
    name = parse_log_name(log.file_name) or LogName(log.file_name, log.format or 0, log.compressed, exact=False)
    return Generation(name, log.format, log.last_seq, log.last_time, log.accounting.get("events", 0))


def refresh(*, log: LogFile, scan: Scan, masker: Masker) -> None:
    """After `log` was read with `scan`: the session shows it if it is the newest one."""
    session = Session.unscoped.get(pk=log.session_id)
    choice = choose(session)
    if session.warnings != list(choice.warnings):
        Session.unscoped.filter(pk=session.pk).update(warnings=list(choice.warnings))
    if choice.current != log:
        return
    work, header = scan.work, log.header or {}
    totals = scan.compaction_totals
    values: dict[str, Any] = {
        "current": log,
        "preset": short(work.preset, 120),
        "provider": short(work.provider, 120),
        "model": short(work.model, 200),
        "parent_session": short(header.get("parentSession"), 200),
        "origin": short(header.get("origin"), 60),
        "created_at": moment(number(header.get("createdAt"))) or moment(work.first_time),
        "last_at": moment(work.last_time),
        "turns": number(work.own_turns, SMALL),
        "events": work.events,
        "tokens": number(_tokens(scan)),
        "compactions": totals.get(Outcome.COMPLETED, 0),
        "failed_compactions": sum(totals.values()) - totals.get(Outcome.COMPLETED, 0),
        "status": log.status,
    }
    # texts are known only when their row was read in this run; what an earlier run found stays
    if work.cwd:
        values["cwd"] = short(masker.mask_text(work.cwd), 1000)
    title = work.title or (None if session.title else _first_words(log))
    if title:
        values["title"] = short(masker.mask_text(title), 400)
    Session.unscoped.filter(pk=session.pk).update(**values)


def _tokens(scan: Scan) -> int | None:
    """Tokens of the session's own calls, compaction calls included; None when no call reported any."""
    own, compaction = scan.work.usage, scan.work.compaction_usage
    return own.total + compaction.total if own.calls + compaction.calls else None


def _first_words(log: LogFile) -> str | None:
    """A title for a session that has none: what the human first said, never injected text (FR-064)."""
    first = Message.unscoped.filter(log=log, human=True).exclude(text="").order_by("position").first()
    return " ".join(first.text.split())[:120] if first else None
