"""`manage.py audit [SESSION…]`: (re)audits compactions; a table for people, `audit.signals/1` with --json."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any, TextIO, cast

from django.core.management.base import CommandError, OutputWrapper
from django.db.models import QuerySet
from rich.console import Console
from rich.table import Table

from audit.core.record import dumps
from audit.models import Audit
from audit.selectors import Chosen, chosen
from audit.services import gate as gates
from audit.services.run import audit_log
from dshweb.access.commands import TeamCommand
from dshweb.access.models import Team
from dshweb.bars import Bar
from dshweb.sessionlog.models import Compaction, LogFile, Session
from dshweb.text.lines import one_line

GATE_EXCEEDED = 3
LISTED_FAILURES = 10


class Command(TeamCommand):
    help = """Audit compactions that have no record under the policy in force, and show the records.
Of each session the current log is meant, the one its page shows: other generations and copies are left out.
A log that cannot be audited is named at the end, and the exit code is 1; all others are audited and shown.

Example:  manage.py audit session-5c009325-c1be-4349-80cd-676d914a384b --json
          manage.py audit --gate uuid=0,user_quote=0"""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("sessions", nargs="*", metavar="SESSION", help="session ids (all sessions of the team)")
        self.add_team(parser, "the team")
        parser.add_argument(
            "--json", action="store_true", help="print the records, audit.signals/1, one a line, masked"
        )
        parser.add_argument("--gate", metavar="CLASS=MAX,…", help="exit 3 when a class has more candidates than MAX")

    def handle(self, *args: Any, **options: Any) -> None:
        team = self.team(options["team"])
        try:
            gate = gates.parse_gate(options["gate"]) if options["gate"] is not None else None
        except gates.BadGate as error:
            raise CommandError(f"--gate {error}", returncode=2) from error
        logs = self._logs(team, options["sessions"])
        failed: dict[str, str] = {}
        with Bar(sys.stderr, quiet=options["json"], size=False) as bar:
            for log in logs:
                try:
                    audit_log(log, on_progress=lambda done, total, log=log: bar.show(log.session, done, total))  # type: ignore[misc]
                except (OSError, ValueError) as error:  # one log whose stored bytes are gone or unreadable fails alone
                    failed[log.session.session_id] = _why(error)
        compactions = (
            Compaction.unscoped.filter(log__in=logs).select_related("session").order_by("session_id", "position")
        )
        audits = chosen(Audit.objects.for_team(team).filter(compaction__in=compactions.order_by()))
        if options["json"]:
            for compaction in compactions:
                if compaction.pk in audits:
                    self.stdout.write(dumps(audits[compaction.pk].audit.record).decode())
        else:
            self._table(compactions, audits)
        if gate is not None:
            # with --json, standard output holds records and nothing else
            out = self.stderr if options["json"] else self.stdout
            self._gate(gate, [one.audit for one in audits.values()], out)
        if failed:
            words = "; ".join(f"{name}: {why}" for name, why in list(failed.items())[:LISTED_FAILURES])
            words += "; …" if len(failed) > LISTED_FAILURES else ""
            raise CommandError(f"not audited: {len(failed)} of {len(logs)} logs – {words}", returncode=1)

    def _logs(self, team: Team, session_ids: list[str]) -> list[LogFile]:
        sessions = Session.objects.for_team(team).exclude(current=None).select_related("current__session")
        if session_ids:
            sessions = sessions.filter(session_id__in=session_ids)
            unknown = set(session_ids) - set(sessions.values_list("session_id", flat=True))
            if unknown:
                raise CommandError(
                    f"not in team {team.slug}: {', '.join(sorted(unknown))}; bring its log in with `ingest`"
                )
        return [session.current for session in sessions.order_by("id") if session.current]

    def _table(self, compactions: QuerySet[Compaction], audits: dict[int, Chosen]) -> None:
        table = Table(box=None, pad_edge=False)
        for name in (
            "session",
            "round",
            "outcome",
            "verdict",
            "asserted",
            "no source",
            "key facts",
            "not in summary",
            "ledger",
        ):
            table.add_column(
                name,
                overflow="fold",
                justify="right"
                if name in {"round", "asserted", "no source", "key facts", "not in summary"}
                else "left",
            )
        for row in compactions:
            table.add_row(*_cells(row, audits.get(row.pk)))
        console = Console(
            file=cast(TextIO, self.stdout._out),
            width=None if self.stdout.isatty() else 200,
            highlight=False,
            markup=False,
        )
        console.print(table)
        if not compactions:
            self.stdout.write("No compactions. Bring logs in with: manage.py ingest PATH")

    def _gate(self, gate: dict[str, int], audits: list[Audit], out: OutputWrapper) -> None:
        counts = gates.counted(audits)
        for name, most in gate.items():
            out.write(f"gate {name}: {counts[name]} found, {most} allowed (uncalibrated)")
        over = gates.exceeded(gate, counts)
        if over:
            words = ", ".join(f"{name} {found} > {most}" for name, (found, most) in over.items())
            raise CommandError(f"gate exceeded: {words}", returncode=GATE_EXCEEDED)


def _cells(row: Compaction, one: Chosen | None) -> list[str]:
    def said(value: int | None) -> str:
        return "—" if value is None else str(value)

    cells = [one_line(row.session.session_id), said(row.round), str(row.get_outcome_display())]
    if one is None:
        return [*cells, one_line(row.error) or "no summary in the log", "—", "—", "—", "—", "—"]
    audit = one.audit
    ledger = "incomplete" if audit.ledger_incomplete else "complete"
    notes = [str(audit.get_verdict_display())]
    notes += ["not fully"] if audit.partial else []
    notes += ["under an older policy"] if one.older else []
    numbers = (audit.asserted, audit.unverified, audit.key_facts, audit.lost)
    return [*cells, ", ".join(notes), *map(said, numbers), ledger]


def _why(error: Exception) -> str:
    """An error without the place on this machine that an OSError names."""
    return error.strerror or "the stored bytes are not there" if isinstance(error, OSError) else str(error)
