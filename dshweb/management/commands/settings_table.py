"""The configuration table of the README, from the settings themselves."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from dshweb.settings import env


class Command(BaseCommand):
    help = "Prints the table of all settings as Markdown. Example: python manage.py settings_table"
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write("| variable | kind | default | meaning |\n| --- | --- | --- | --- |")
        for row in env.declared:
            default = f"`{row.default}`" if row.default else "–"
            self.stdout.write(f"| `{row.name}` | {row.kind} | {default} | {row.meaning.replace('|', chr(92) + '|')} |")
