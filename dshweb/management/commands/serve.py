"""Everything in one go: tables, first login, web server, worker. Then this process becomes `dshweb.supervisor`."""

from __future__ import annotations

import ipaddress
import os
import sys
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, connections
from django.urls import reverse

from dshweb import statics, supervisor
from dshweb.access.models import Team, User
from dshweb.access.services import links

LAST_PORT = 65535
DEMO = settings.BASE_DIR / "demo" / "sessions"


class Command(BaseCommand):
    help = "Prepares the data folder and runs web server and worker. Example: python manage.py serve --demo"
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
        parser.add_argument("--port", type=int, default=8000, help="port to listen on, 0 for a free one (8000)")
        parser.add_argument("--demo", action="store_true", help="bring in the small bundled set of logs first")

    def handle(self, *args: Any, **options: Any) -> None:
        supervisor.end_before_it_serves()
        host, port = self._address(options["host"], options["port"])
        self._prepare()
        if options["demo"]:
            self._demo()
        note = self._note(host, port)
        connections.close_all()
        self._become_supervisor(host, port, note)

    def _address(self, host: str, port: int) -> tuple[str, int]:
        if not 0 <= port <= LAST_PORT:  # the resolver would take it modulo 65536
            raise CommandError(f"--port {port}: a port is a number from 0 to {LAST_PORT}", returncode=2)
        try:
            return supervisor.free_port(host, port)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise CommandError(
                f"cannot listen on {supervisor.shown(host)}:{port}: {reason}; choose another with --port"
            ) from None

    def _prepare(self) -> None:
        settings.DATA_DIR.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            call_command("migrate", interactive=False, verbosity=0, skip_checks=True)
        except DatabaseError as error:
            raise CommandError(f"the database cannot be prepared: {error}") from None
        statics.collect()

    def _demo(self) -> None:
        """The bundled logs, imported and audited here before anything is served; a second time changes nothing."""
        from dshweb.sessionlog.services.ingest import Import, ingest_path
        from dshweb.sessionlog.services.report import Totals

        team = Team.objects.order_by("pk").first()
        owner = User.objects.filter(is_superuser=True).order_by("pk").first()
        if team is None or not DEMO.is_dir():
            raise CommandError("--demo: the bundled logs are not in this installation")
        self.stdout.write("Bringing in the demo logs …")
        totals = Totals()
        ingest_path(DEMO, run=Import.by(team, owner, inline=True), totals=totals)
        states = ", ".join(f"{n} {name}" for name, n in totals.to_json()["status"].items() if n)
        self.stdout.write(f"Demo: {totals.logs} logs ({states}), {totals.changed} of them new or changed.")

    def _note(self, host: str, port: int) -> str:
        """What is said once the server answers: where it listens, how to get in, and warnings."""
        wide = not ipaddress.ip_address(host).is_loopback
        anywhere = ipaddress.ip_address(host).is_unspecified
        shown = ("[::1]" if ":" in host else "127.0.0.1") if anywhere else supervisor.shown(host)
        address = f"http://{shown}:{port}"
        lines = ["", f"dshweb listens on {supervisor.shown(host)}:{port} – open {address}/"]
        admin = links.nobody_can_log_in()
        if admin:
            link = address + reverse("login-link", args=[links.make(admin)])
            lines += [f"First login as {admin.username}, once, within 24 hours:", f"  {link}"]
        lines.append(f"All state is in {settings.DATA_DIR}. Stop with Ctrl-C.")
        if wide:
            lines += self._warning(host, port)
        return "\n".join([*lines, ""])

    def _warning(self, host: str, port: int) -> list[str]:
        bar = "!" * 78
        anywhere = ipaddress.ip_address(host).is_unspecified
        whom = "every machine that can reach this one" if anywhere else "other machines"
        hosts = ",".join(settings.ALLOWED_HOSTS) or "empty"
        lines = [
            bar,
            f"WARNING: {supervisor.shown(host)}:{port} can be reached by {whom}.",
            f"  ALLOWED_HOSTS is {hosts}: other host names are refused until listed.",
        ]
        if not settings.BEHIND_TLS:
            lines.append("  Passwords and logs travel unencrypted: put a proxy with TLS in front, set BEHIND_TLS=yes.")
        return [*lines, bar]

    def _become_supervisor(self, host: str, port: int, note: str) -> None:
        # the note holds the login link: through a pipe, it stands neither in the process list nor in an environment
        reader, writer = os.pipe()
        with os.fdopen(writer, "w") as stream:
            stream.write(note)
        os.set_inheritable(reader, True)
        home = str(settings.BASE_DIR)
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH")]))
        os.environ["DSHWEB_DATA_DIR"] = str(settings.DATA_DIR)
        arguments = [
            "--host",
            host,
            "--port",
            str(port),
            "--workers",
            str(settings.WEB_WORKERS),
            "--note-fd",
            str(reader),
        ]
        self.stdout.flush()
        supervisor.hold_signals()
        os.execv(sys.executable, [sys.executable, "-m", "dshweb.supervisor", *arguments])  # noqa: S606
