"""`manage.py inspect [SESSION]`: the body that `/better-compact/api/inspect` answers."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from compaction.inspecting import asked_in, body
from dshweb.access.commands import TeamCommand
from dshweb.text.lines import one_line


class Command(TeamCommand):
    help = """Print what the team's default profile holds, and how full a session is under it, as one JSON object.

Example:  manage.py inspect session-00000000-0000-4000-8000-00000000000a"""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "session", nargs="?", metavar="SESSION", help="DSH's id of a session; without, only settings"
        )
        self.add_team(parser, "the team")

    def handle(self, *args: Any, **options: Any) -> None:
        team, session = self.team(options["team"]), options["session"]
        found = asked_in(team.pk, session)
        if found is None:
            raise CommandError(f"team {team.slug} has no session {one_line(session)!r}; import its log first")
        self.stdout.write(json.dumps(body(found), indent=2))
