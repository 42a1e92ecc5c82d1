"""`manage.py ingest PATH…`: session logs in, a line a log, a summary that adds up."""

from __future__ import annotations

import gc
import json
import signal
import sys
from argparse import ArgumentParser, ArgumentTypeError
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from dshweb.access.commands import TeamCommand
from dshweb.access.models import Team, User
from dshweb.bars import Bar
from dshweb.sessionlog.services.crew import helpers
from dshweb.sessionlog.services.delete import lift_below
from dshweb.sessionlog.services.ingest import Import, ingest_path
from dshweb.sessionlog.services.report import DELETED, LogReport, Totals
from dshweb.sessionlog.services.requests import request_ingest
from dshweb.sessionlog.services.watch import follow
from dshweb.tasks.selectors import worker_alive
from dshweb.tasks.services import drain
from dshweb.text.lines import one_line


def _named(text: str) -> Path:
    """A path that was really named: an unset shell variable must not mean the current folder."""
    if not text.strip():
        raise ArgumentTypeError("an empty path names nothing; say . for the current folder")
    return Path(text)


class Command(TeamCommand):
    requires_system_checks = ()  # they load every page of the product, and are `manage.py check`

    help = """Bring session logs in: files, folders, or a whole DSH home. Logs are only read.

Example:  manage.py ingest ~/.dsh --watch"""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", metavar="PATH", type=_named)
        parser.add_argument("--watch", action="store_true", help="stay and bring in what is written from now on")
        parser.add_argument("--again", action="store_true", help="also logs whose session was deleted here")
        self.add_team(parser, "the team the logs belong to")
        parser.add_argument("--owner", help="user name of the sessions' owner (the team's first admin)")
        parser.add_argument("--json", action="store_true", help="one JSON object a log, the summary last")

    def handle(self, *args: Any, **options: Any) -> None:
        team = self.team(options["team"])
        run = Import.by(team, self._owner(team, options["owner"]), inline=True)
        totals, missing = Totals(), []
        gc.freeze()  # what is loaded by now stays: no need to look through it again and again
        with Bar(sys.stderr, quiet=options["json"]) as bar:
            for path in options["paths"]:
                if options["again"]:
                    lift_below(team.pk, path)
                try:
                    ingest_path(
                        path, run=run, totals=totals, on_progress=bar.show, processes=helpers(),
                        on_report=self._say_json if options["json"] else self._say,
                    )  # fmt: skip
                except FileNotFoundError:
                    missing.append(str(path))
        self._summary(totals, as_json=options["json"])
        if missing and not options["watch"]:
            raise CommandError(f"does not exist: {', '.join(missing)}")
        if options["watch"]:
            self._watch(options["paths"], team, run.owner)

    def _watch(self, paths: list[Path], team: Team, owner: User | None) -> None:
        """Stays: changes become tasks for the worker; while no worker is alive, they are done here."""
        stop = Event()
        signal.signal(signal.SIGTERM, lambda *_: stop.set())
        self.stderr.write(f"watching {', '.join(map(str, paths))} – stop with Ctrl-C")

        looked = False

        def bring_in(changed: list[Path]) -> None:
            nonlocal looked
            # the first look names every log there is: one task a folder, the files in it cost a stat
            for path in changed if looked else paths:
                request_ingest(team, path, owner=owner.pk if owner else None)
            looked = True

        def lend_a_hand() -> None:
            if not worker_alive():
                drain(team)

        with suppress(KeyboardInterrupt):
            follow(paths, bring_in, then=lend_a_hand, poll_seconds=settings.WATCH_POLL_SECONDS, stop=stop)

    def _owner(self, team: Team, name: str | None) -> User | None:
        if name is None:
            return User.objects.filter(memberships__team=team, memberships__role="admin").order_by("pk").first()
        user = User.objects.filter(username=name).first()
        if user is None:
            raise CommandError(f"there is no user {name!r}")
        return user

    def _say_json(self, report: LogReport) -> None:
        self.stdout.write(json.dumps(report.to_json(), ensure_ascii=False))

    def _say(self, report: LogReport) -> None:
        """One line: status, size in events, compactions, and the first damage with its place."""
        if report.events is None:
            counts = "nothing read"
        else:
            made = ", ".join(f"{n} {outcome}" for outcome, n in report.compactions.items() if n)
            counts = f"{report.events} events, compactions: {made or 'none'}"
        news = "" if report.changed else " (unchanged)"
        if report.status == DELETED:
            news = " (its session was deleted here; --again brings it in)"
        self.stdout.write(f"{report.status:<11} {one_line(report.path)}: {counts}{news}")
        for entry in report.damage[:3]:
            place = f"byte {entry['offset']}" if "offset" in entry else f"seq {entry.get('seq', 'unknown')}"
            self.stdout.write(f"            {entry['code']} at {place}: {one_line(entry['detail'])}")

    def _summary(self, totals: Totals, *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps({"summary": totals.to_json()}, ensure_ascii=False))
            return
        states = ", ".join(f"{n} {name}" for name, n in totals.to_json()["status"].items() if n)
        made = ", ".join(f"{n} {name}" for name, n in totals.to_json()["compactions"].items() if n)
        self.stdout.write(
            f"{totals.logs} logs ({states or 'none'}; {totals.changed} changed), {totals.events} events, "
            f"{totals.turns} turns, compactions: {made or 'none'}"
        )
