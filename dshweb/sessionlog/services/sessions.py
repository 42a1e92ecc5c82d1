"""A session's row, kept in step with the log that is newest by content.

What a log says of its session stands with the log (`LogFile.work`, masked), so that a session can be shown anew at any time:
when a log was read, and when the one that was shown is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count
from django.db.models.functions import Substr

from dshweb.sessionlog.core import generations
from dshweb.sessionlog.core.generations import Generation, LogName, parse_log_name
from dshweb.sessionlog.core.scan import Scan
from dshweb.sessionlog.models import Compaction, LogFile, Message, Outcome, Session, SourceFile
from dshweb.sessionlog.services import sent, store
from dshweb.sessionlog.services.fit import SMALL, number, plain, short
from dshweb.sessionlog.services.rows import moment
from dshweb.text.redact import Masker

BEGINNING = 64 << 10  # bytes that tell whether one log goes on from another


@dataclass(frozen=True)
class Choice:
    """The session's log that is newest by content, and what is odd about its logs (codes of core.generations)."""

    current: LogFile | None
    warnings: tuple[str, ...]


def choose(session: Session) -> Choice:
    """One rule for all: core.generations. A file with a name DSH would not give is read, but DSH would not open it.

    What another person than the owner handed in is a log of the session too, but stands for it only if it begins as the
    owner's does, or nothing else is there: whoever knows a session's id could show anything in its place.
    """
    logs = list(session.logs.defer("state", "damage").order_by("id"))
    known = [_generation(log) for log in logs]
    choice = generations.choose(known)
    foreign = _of_others(session) if len(logs) > 1 else set()
    owners = [log for log in logs if log.pk not in foreign]
    own = [
        seen
        for log, seen in zip(logs, known, strict=True)
        if log.pk not in foreign or any(_begins_as(log, other) for other in owners)
    ]
    newest = generations.choose(own).newest if owners and len(own) < len(logs) else choice.newest
    current = next((log for log, seen in zip(logs, known, strict=True) if seen is newest), None)
    return Choice(current, choice.warnings)


def _begins_as(log: LogFile, other: LogFile) -> bool:
    length = min(other.size, BEGINNING)
    if log.size < length or not store.size(log.stored):
        return False
    with store.opened(log.stored) as source:
        return store.starts_with(source, other.stored, length=length)


def _of_others(session: Session) -> set[int]:
    """Logs that only people who do not own the session handed in (services.sent says how their places are named)."""
    if session.owner_id is None:
        return set()
    places = list(SourceFile.unscoped.filter(log__session=session).values_list("log", "location"))
    own = {log for log, location in places if sent.person(location) in (None, session.owner_id)}
    return {log for log, _location in places} - own


def opened_by_dsh(logs: Sequence[LogFile]) -> LogFile | None:
    """Which of a session's logs DSH itself would open; None when it would open none of them."""
    known = [_generation(log) for log in logs]
    opened = generations.choose(known).opened
    return next((log for log, seen in zip(logs, known, strict=True) if seen is opened), None)


def _generation(log: LogFile) -> Generation:
    name = parse_log_name(log.file_name) or LogName(log.file_name, log.format or 0, log.compressed, exact=False)
    return Generation(name, log.format, log.last_seq, log.last_time, log.accounting.get("events", 0))


def work_of(scan: Scan, *, masker: Masker, before: dict[str, Any]) -> dict[str, Any]:
    """`LogFile.work` after `scan`. `before` has the texts of rows that an earlier run read."""
    work = scan.work

    def text(value: str | None, limit: int) -> str:
        return short(masker.mask_text(value), limit) if value else ""

    return {
        "title": text(work.title, 400) or before.get("title", ""),
        "cwd": text(work.cwd, 1000) or before.get("cwd", ""),
        "preset": text(work.preset, 120),
        "provider": text(work.provider, 120),
        "model": text(work.model, 200),
        "firstTime": plain(work.first_time),
        "lastTime": plain(work.last_time),
        "turns": number(work.turns, SMALL),
        "ownTurns": number(work.own_turns, SMALL),
        "events": work.events,
        "ownEvents": work.own_events,
        "tokens": number(_tokens(scan)),
    }


def _tokens(scan: Scan) -> int | None:
    """Tokens of the session's own calls, compaction calls included; None when no call reported any."""
    own, compaction = scan.work.usage, scan.work.compaction_usage
    return own.total + compaction.total if own.calls + compaction.calls else None


def refresh(session_pk: int) -> None:
    """Makes the session's row anew, inside the caller's transaction; a session without a log goes.

    The row is locked first: of two logs that come to their end at once, the second sees what the first one left.
    """
    session = Session.unscoped.select_for_update().filter(pk=session_pk).first()
    if session is None:
        return
    choice = choose(session)
    if choice.current is None:
        session.delete()
        return
    values = _shown(choice.current) | {"current": choice.current, "warnings": list(choice.warnings)}
    Session.unscoped.filter(pk=session_pk).update(**values)


def _shown(log: LogFile) -> dict[str, Any]:
    """What the session shows of its current log: its own numbers, those inherited from a parent apart. Not read yet: unknown."""
    work, header = log.work, log.header or {}
    own, inherited = _attempts(log, inherited=False), _attempts(log, inherited=True)
    return {
        "title": work.get("title") or _first_words(log),
        "cwd": work.get("cwd", ""),
        "preset": work.get("preset", ""),
        "provider": work.get("provider", ""),
        "model": work.get("model", ""),
        "parent_session": short(header.get("parentSession"), 200),
        "origin": short(header.get("origin"), 60),
        "created_at": moment(number(header.get("createdAt"))) or moment(work.get("firstTime")),
        "last_at": moment(work.get("lastTime")),
        "turns": work.get("ownTurns"),
        "events": work.get("ownEvents"),
        "tokens": work.get("tokens"),
        "compactions": own.get(Outcome.COMPLETED, 0),
        "failed_compactions": sum(own.values()) - own.get(Outcome.COMPLETED, 0),
        "inherited": _inherited(work, sum(inherited.values())),
        "status": log.status if work else "",
    }


def _inherited(work: dict[str, Any], compactions: int) -> dict[str, int] | None:
    events = work["events"] - work["ownEvents"] if work else 0
    if not events:
        return None
    turns = (work["turns"] or 0) - (work["ownTurns"] or 0)
    return {"events": events, "turns": turns, "compactions": compactions}


def _attempts(log: LogFile, *, inherited: bool) -> dict[str, int]:
    rows = Compaction.unscoped.filter(log=log, inherited=inherited).order_by().values("outcome").annotate(n=Count("id"))
    return {row["outcome"]: row["n"] for row in rows}


def _first_words(log: LogFile) -> str:
    """A title for a session that has none: what the human first said, never injected text (FR-064). Stored text is masked."""
    said = Message.unscoped.filter(log=log, human=True).exclude(text="").order_by("position")
    return " ".join((said.values_list(Substr("text", 1, 2000), flat=True).first() or "").split())[:120]
