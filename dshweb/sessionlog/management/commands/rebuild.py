"""`manage.py rebuild`: all projections anew from the stored logs, then the audits that are missing."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from dshweb.access.commands import TeamCommand
from dshweb.bars import Bar
from dshweb.sessionlog.models import LogFile
from dshweb.sessionlog.services.rebuild import rebuild_log
from dshweb.sessionlog.signals import tell_imported


class Command(TeamCommand):
    help = """Read every stored log again and make its sessions, messages, compactions and audits anew.

Example:  manage.py rebuild --team main"""

    def add_arguments(self, parser: ArgumentParser) -> None:
        self.add_team(parser, "one team", default=None)

    def handle(self, *args: Any, **options: Any) -> None:
        logs = LogFile.unscoped.select_related("session").order_by("id")
        if options["team"]:
            logs = logs.filter(team=self.team(options["team"]))
        failed: list[str] = []
        done = 0
        with Bar(sys.stderr) as bar:
            for log in logs:
                try:
                    fresh = rebuild_log(log, on_progress=lambda n, total, log=log: bar.show(log, n, total))  # type: ignore[misc]
                    tell_imported(fresh, inline=True)
                    done += 1
                except OSError as error:
                    failed.append(f"log {log.pk} ({log}): {error}")
        self.stdout.write(f"{done} of {done + len(failed)} logs read again")
        if failed:
            raise CommandError("not read again, their rows stay as they were: " + "; ".join(failed))
