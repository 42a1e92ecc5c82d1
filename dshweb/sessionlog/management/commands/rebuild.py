"""`manage.py rebuild`: all projections anew from the stored logs, then the audits that are missing."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from dshweb.access.models import Team
from dshweb.bars import Bar
from dshweb.sessionlog.models import LogFile
from dshweb.sessionlog.services.rebuild import rebuild_log
from dshweb.sessionlog.signals import log_imported


class Command(BaseCommand):
    help = """Read every stored log again and make its sessions, messages, compactions and audits anew.

Example:  manage.py rebuild --team main"""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> Any:
        return super().create_parser(prog_name, subcommand, formatter_class=RawDescriptionHelpFormatter, **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--team", help="short name of one team (all teams)")

    def handle(self, *args: Any, **options: Any) -> None:
        logs = LogFile.unscoped.select_related("session").order_by("id")
        if options["team"]:
            team = Team.objects.filter(slug=options["team"]).first()
            if team is None:
                raise CommandError(f"there is no team {options['team']!r}; the teams are listed in the admin")
            logs = logs.filter(team=team)
        failed: list[str] = []
        done = 0
        with Bar(sys.stderr) as bar:
            for log in logs:
                try:
                    fresh = rebuild_log(log, on_progress=lambda n, total, log=log: bar.show(log, n, total))  # type: ignore[misc]
                    log_imported.send(LogFile, log=fresh, inline=True)
                    done += 1
                except OSError as error:
                    failed.append(f"log {log.pk} ({log}): {error}")
        self.stdout.write(f"{done} of {done + len(failed)} logs read again")
        if failed:
            raise CommandError("not read again, their rows stay as they were: " + "; ".join(failed))
