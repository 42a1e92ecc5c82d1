"""What the commands of all apps share: help as it was written, a team by its short name, tables before anything else.

`serve` and `worker` are not among them: the one makes the tables, the other waits for them.
"""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from dshweb import schema
from dshweb.access.models import Team


class TeamCommand(BaseCommand):
    """A command on the data of teams. It refuses a database without its tables before it does anything."""

    requires_migrations_checks = True

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> Any:
        """Keeps the lines of the help text: examples are commands to copy."""
        return super().create_parser(prog_name, subcommand, formatter_class=RawDescriptionHelpFormatter, **kwargs)

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Ctrl-C is no fault: one line, and the exit code shells expect."""
        try:
            return super().execute(*args, **options)
        except KeyboardInterrupt:
            raise CommandError(
                "stopped; what was done stays, and the next run goes on from there", returncode=130
            ) from None

    def check_migrations(self) -> None:
        """Django warns where this ends: half a database is nothing to work on."""
        missing = schema.pending()
        if missing:
            raise CommandError(
                f"the database lacks {len(missing)} migrations (first {missing[0]}); run: python manage.py migrate"
            )

    def add_team(self, parser: ArgumentParser, meaning: str, default: str | None = "main") -> None:
        """The option `--team`; without a default all teams are meant."""
        parser.add_argument("--team", default=default, help=f"short name of {meaning} ({default or 'all teams'})")

    def team(self, slug: str) -> Team:
        """The team of this short name. Raises CommandError."""
        found = Team.objects.filter(slug=slug).first()
        if found is None:
            raise CommandError(f"there is no team {slug!r}; the teams are listed in the admin")
        return found
