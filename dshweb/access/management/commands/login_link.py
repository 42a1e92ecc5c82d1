"""Lets somebody in who cannot log in."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.urls import reverse

from dshweb.access.commands import TeamCommand
from dshweb.access.models import User
from dshweb.access.services import links


class Command(TeamCommand):
    help = "Prints a login link for a person: valid once, for a day. Example: python manage.py login_link admin"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--at", default="http://127.0.0.1:8000", help="address of the server")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["username"], is_active=True).first()
        if user is None:
            raise CommandError(f"no active user named {options['username']!r}")
        self.stdout.write(options["at"].rstrip("/") + reverse("login-link", args=[links.make(user)]))
