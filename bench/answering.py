"""The server that P18 asks: the product with one more address, a ninja call that does nothing.

    python -m bench.answering PORT    fills the data folder, prints a token and a login's key as JSON, and serves

Run in a migrated data folder of its own (`bench.product.variables`).
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

SHORT, LONG = 50, 20_000  # events of the two sessions
NAME = "session-00000000-0000-4000-8000-{:012d}"


def rows(events: int) -> list[dict[str, Any]]:
    """A session of short turns without a preset; what it holds is text, and every turn is a place for a cut."""
    from tests.builders import BORN, assistant, human

    config = {"provider": "deepseek-official", "model": "deepseek-flash", "maxTokens": 8000}
    start = {"type": "request/header", "data": {"reason": "initial", "header": {"config": config, "tools": []}}}
    found = [start, {"type": "request/context", "data": {"contextWindow": 1_000_000}}]
    while len(found) < events:
        turn, seq = len(found), len(found)
        answer = assistant(seq + 3, f"I have looked at it {seq} " * 12)
        answer["data"]["turn"] = turn
        found += [
            {"type": "turn/start", "data": {"turn": turn}},
            {"type": "step/start", "data": {"turn": turn, "step": 1}},
            human(seq + 2, f"Please look at file {seq} " * 6),
            answer,
            {"type": "step/end", "data": {"turn": turn, "step": 1}},
            {"type": "turn/end", "data": {"turn": turn, "reason": {"kind": "completed"}}},
        ]
    return [{"time": BORN + seq, **row, "seq": seq} for seq, row in enumerate(found[:events])]


def fill(folder: Path) -> dict[str, str]:
    """Two sessions, an engine that holds settings, and the ways to call."""
    from django.test import Client

    from compaction.services import engine
    from dshweb.access.models import Team, User
    from dshweb.access.services import tokens
    from dshweb.sessionlog.services.ingest import Import, ingest_file
    from tests.builders import frame, header, write

    team, user = Team.objects.get(), User.objects.get()
    for events in (SHORT, LONG):
        listed, name = rows(events), NAME.format(events)
        frames = [frame(*listed[start : start + 20]) for start in range(0, events, 20)]
        ingest_file(write(folder, [frame(header(name)), *frames], name), run=Import.by(team, user, inline=True))
    engine.take_snapshots()
    client = Client()
    client.force_login(user)
    return {"token": tokens.make(team, user, "bench", ["read"])[1], "login": client.cookies["dshweb_session"].value}


def main(port: int) -> None:
    import django

    django.setup()
    from django.conf import settings

    print(json.dumps(fill(settings.DATA_DIR / "home")), flush=True)
    sys.stdout = sys.stderr
    os.execvpe(
        sys.executable,
        [
            sys.executable, "-m", "granian", "--interface", "wsgi", "--port", str(port), "--workers", "1",
            "--blocking-threads", "1", "--log-level", "error", "bench.answering_wsgi:application",
        ],
        os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dshweb.settings")
    main(int(sys.argv[1]))
