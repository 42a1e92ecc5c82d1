"""`manage.py push DSH_HOME --server URL`: ships a person's logs to a team's server. Works without a database, keeps nothing."""

from __future__ import annotations

import json
import os
import signal
import sys
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from collections import Counter
from pathlib import Path
from threading import Event
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from dshweb.bars import Bar
from dshweb.sessionlog.push.client import Client, Stop
from dshweb.sessionlog.push.names import Names
from dshweb.sessionlog.push.sender import PIECE, Ended, GaveUp, Sender, Sent
from dshweb.sessionlog.services.discover import find_logs
from dshweb.sessionlog.services.watch import follow
from dshweb.text.lines import one_line

TOKEN = "DSHWEB_PUSH_TOKEN"  # noqa: S105
TRIES = 8
LARGEST_PIECE = 32 << 20
STATES = ("sent", "unchanged", "shorter", "deleted", "failed")


class Command(BaseCommand):
    help = """Ship session logs to a team's server: only what is new, in pieces, going on where the last run ended.
Logs are only read. Nothing is kept on this machine, and no database is needed.

Example:  manage.py push ~/.dsh --server https://dshweb.example.org --watch

Give the token in DSHWEB_PUSH_TOKEN (or a file's name in DSHWEB_PUSH_TOKEN_FILE): what stands in --token can be read
by everybody on this machine in the list of processes. It needs the scope `ingest`. Proxies (HTTPS_PROXY, NO_PROXY)
and certificates (SSL_CERT_FILE) come from the environment. Exit code: 0 all is there, 1 something is not, 2 usage."""
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> Any:
        return super().create_parser(prog_name, subcommand, formatter_class=RawDescriptionHelpFormatter, **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", metavar="DSH_HOME", type=Path, help="a DSH home, a folder of logs, or one log")
        parser.add_argument("--server", required=True, metavar="URL", help="address of the server")
        parser.add_argument("--token", metavar="T", help=f"the token; better in {TOKEN}")
        parser.add_argument("--team", help="short name of the team, for a login with several; a token has one")
        parser.add_argument("--watch", action="store_true", help="stay and send what is written from now on")
        parser.add_argument(
            "--piece", type=_bytes, default=PIECE, metavar="BYTES", help=f"size of a piece at most ({PIECE})"
        )
        parser.add_argument("--json", action="store_true", help="one JSON object a log, the summary last")

    def handle(self, *args: Any, **options: Any) -> None:
        self.stopping = Event()
        self.json, self.states, self.bytes = options["json"], dict[Path, str](), 0
        signal.signal(signal.SIGTERM, lambda *_: self.stopping.set())
        path: Path = options["path"]
        try:
            self._run(path, options)
        except (Stop, GaveUp) as reason:
            raise CommandError(one_line(str(reason))) from None
        except FileNotFoundError:
            raise CommandError(f"does not exist: {one_line(str(path))}") from None
        except (Ended, KeyboardInterrupt):
            self._summary()
            if not options["watch"]:
                raise CommandError(
                    "stopped; what was sent stays, and the next run goes on from there", returncode=130
                ) from None
        failed = sum(state == "failed" for state in self.states.values())
        if failed and not options["watch"]:
            raise CommandError(f"{failed} of {len(self.states)} logs were not sent")

    def _run(self, path: Path, options: dict[str, Any]) -> None:
        client = Client(options["server"], _token(options["token"]), options["team"])
        if client.unprotected:
            self.stderr.write("WARNING: without https everybody on the way can read the token and the logs")
        names, watch = Names(path), bool(options["watch"])
        with Bar(sys.stderr, quiet=self.json) as bar:
            sender = Sender(
                client,
                stop=self.stopping,
                tries=None if watch else TRIES,
                say=self._trouble,
                on_progress=bar.show,
                piece=options["piece"],
            )
            if not watch:
                self._send(find_logs(path).logs, sender, names)
        if watch:
            if not path.exists():
                self.stderr.write(f"{one_line(str(path))} is not there yet; waiting for it")
            self.stderr.write(f"watching {one_line(str(path))} – stop with Ctrl-C")
            follow(
                [path], lambda changed: self._send(changed, sender, names), poll_seconds=settings.WATCH_POLL_SECONDS,
                stop=self.stopping,
            )  # fmt: skip
        self._summary()

    def _send(self, logs: list[Path], sender: Sender, names: Names) -> None:
        names.learn(logs)
        for path in logs:
            if self.stopping.is_set():
                raise Ended
            sent = sender.send(path, *names.of(path))
            if sent.status != "unchanged" or self.states.get(path) != "sent":
                self.states[path] = sent.status
            self.bytes += sent.bytes
            self._say(sent, "/".join(names.of(path)))

    def _say(self, sent: Sent, name: str) -> None:
        if self.json:
            told = {"path": str(sent.path), "name": name, "status": sent.status, "bytes": sent.bytes, "size": sent.size}
            self.stdout.write(json.dumps(told | ({"reason": sent.reason} if sent.reason else {}), ensure_ascii=False))
        else:
            more = {
                "sent": f"{sent.bytes} bytes", "shorter": "shorter here than there, left alone",
                "deleted": "deleted on the server, not sent again", "failed": one_line(sent.reason),
            }.get(sent.status, "")  # fmt: skip
            self.stdout.write(f"{sent.status:<9} {one_line(name)}{': ' if more else ''}{more}")
        self.stdout.flush()

    def _trouble(self, words: str) -> None:
        self.stderr.write(one_line(words))

    def _summary(self) -> None:
        """Every log once, as it was left: a log that grew for hours is one that was sent."""
        logs, totals = len(self.states), Counter(self.states.values())
        if self.json:
            counts = {state: totals[state] for state in STATES}
            self.stdout.write(json.dumps({"summary": {"logs": logs, "status": counts, "bytes": self.bytes}}))
            return
        states = ", ".join(f"{totals[state]} {state}" for state in STATES if totals[state])
        self.stdout.write(f"{logs} {'log' if logs == 1 else 'logs'} ({states or 'none'}), {self.bytes} bytes sent")


def _bytes(text: str) -> int:
    if not text.isdigit() or not 0 < int(text) <= LARGEST_PIECE:
        raise ArgumentTypeError(f"a number of bytes from 1 to {LARGEST_PIECE}")
    return int(text)


def _token(given: str | None) -> str:
    """The token, from the option, the environment, or a file named there. Raises CommandError."""
    token = given or os.environ.get(TOKEN, "")
    file = os.environ.get(f"{TOKEN}_FILE")
    if not token and file:
        try:
            token = Path(file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{TOKEN}_FILE: cannot read {file}: {error}") from None
    token = token.strip()
    if not token:
        raise CommandError(
            f"no token; set {TOKEN}. A server's page “Account” makes one with the scope `ingest`", returncode=2
        )
    if not token.isascii() or not token.isprintable() or " " in token:
        raise CommandError("the token holds characters that no token has", returncode=2)
    return token
