"""What of the product is measured, each run in a process of its own with a data folder of its own: prints one JSON object.

`python -m bench.ours import|ingest|append|store|audit …`; DSHWEB_DATA_DIR names a migrated data folder. Seconds are those of the work
itself, without interpreter start and imports (the parent measures the whole process besides).
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def _memory(name: str) -> int:
    """A figure of /proc/self/status in bytes: VmRSS now, VmHWM at its highest."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"no {name} in /proc/self/status")


def _start() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dshweb.settings")
    import django

    django.setup()


def _import(path: Path) -> tuple[float, dict[str, Any]]:
    from dshweb.access.models import Team
    from dshweb.sessionlog.services.crew import helpers
    from dshweb.sessionlog.services.ingest import Import, ingest_path
    from dshweb.sessionlog.services.report import Totals

    run = Import.by(Team.objects.get(slug="main"), None, inline=True)
    totals = Totals()
    start = time.perf_counter()
    ingest_path(path, run=run, totals=totals, processes=helpers())
    return time.perf_counter() - start, totals.to_json()


def do_import(path: str, again: str = "0") -> dict[str, Any]:
    """Imports `path`, and `again` times more."""
    idle = _memory("VmRSS")
    seconds, totals = _import(Path(path))
    out: dict[str, Any] = {"seconds": seconds, "idle": idle, "peak": _memory("VmHWM"), "totals": totals}
    out["again"] = [_import(Path(path))[0] for _ in range(int(again))]
    return out


def do_ingest(path: str, *options: str) -> dict[str, Any]:
    """`manage.py ingest --json` as it is used; `unindexed` leaves the text index out."""
    from django.core.management import execute_from_command_line

    from dshweb.sessionlog.services import search

    if "unindexed" in options:
        search.words = lambda _text: []  # type: ignore[assignment]
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        execute_from_command_line(["manage.py", "ingest", "--json", path])
    return {"totals": json.loads(said.getvalue().splitlines()[-1])["summary"]}


def do_append(path: str, *frames: str) -> dict[str, Any]:
    """Imports the log, then appends one frame file after the other and imports again; all timed, all checked for visible rows."""
    from dshweb.sessionlog.models import Message

    out = do_import(path)
    out["appends"] = []
    for name in frames:
        before = Message.unscoped.count()
        with Path(path).open("ab") as log:
            log.write(Path(name).read_bytes())
        out["appends"].append(_import(Path(path))[0])
        assert Message.unscoped.count() > before, "the appended frame is not visible"
    return out


def do_store(path: str, pairs: str) -> dict[str, Any]:
    """Rows through our insert and through bare executemany on a connection of its own, into the same table, in turn."""
    from django.conf import settings
    from django.db import connection, transaction

    from dshweb.sessionlog.models import LogFile, Message
    from dshweb.sessionlog.services import rows

    _import(Path(path))
    log = LogFile.unscoped.get()
    made = list(Message.unscoped.filter(log=log).values_list(*rows.MESSAGE_FIELDS))
    adapt = connection.ops.adapt_datetimefield_value
    at, position, parts = (rows.MESSAGE_FIELDS.index(name) for name in ("at", "position", "parts"))
    many = []
    for number in range(33_111):
        row = list(made[number % len(made)])
        row[at], row[position], row[parts] = adapt(row[at]), 10**6 + number, json.dumps(row[parts])
        many.append(tuple(row))
    marks = ", ".join("?" * len(rows.MESSAGE_FIELDS))
    statement = f"INSERT INTO {Message._meta.db_table} ({', '.join(rows.MESSAGE_FIELDS)}) VALUES ({marks})"

    def empty() -> None:
        Message.unscoped.filter(position__gte=10**6)._raw_delete("default")

    def ours() -> None:
        with transaction.atomic():
            rows.insert_messages(many)

    def bare() -> None:
        other = sqlite3.connect(settings.DATABASES["default"]["NAME"], isolation_level=None)
        other.executescript(settings.DATABASES["default"]["OPTIONS"]["init_command"])
        other.execute("BEGIN IMMEDIATE")
        other.executemany(statement, many)
        other.execute("COMMIT")
        other.close()

    figures: dict[str, list[float]] = {"ours": [], "bare": []}
    sides: tuple[tuple[str, Callable[[], None]], ...] = (("ours", ours), ("bare", bare))
    for turn in range(int(pairs) + 1):
        for name, side in sides:
            start = time.perf_counter()
            side()
            if turn:
                figures[name].append(time.perf_counter() - start)
            empty()
    return {**figures, "rows": len(many)}


def do_audit(_path: str) -> dict[str, Any]:
    """Audits every compaction of the one log in the data folder, which has been imported but not audited."""
    from audit.models import Audit
    from audit.services.run import audit_log
    from dshweb.sessionlog.models import LogFile

    log = LogFile.unscoped.get()
    Audit.unscoped.all().delete()
    start = time.perf_counter()
    made = audit_log(log)
    seconds = time.perf_counter() - start
    errors = [error for one in made for error in one.record["errors"]]
    return {"seconds": seconds, "audits": len(made), "errors": errors[:3], "peak": _memory("VmHWM")}


def do_import_unaudited(path: str) -> dict[str, Any]:
    """Imports `path` and leaves what would follow."""
    from dshweb.sessionlog.signals import log_imported

    log_imported.receivers = []
    seconds, totals = _import(Path(path))
    return {"seconds": seconds, "totals": totals}


def main() -> None:
    _start()
    command, *arguments = sys.argv[1:]
    print(json.dumps(globals()[f"do_{command}"](*arguments)))


if __name__ == "__main__":
    main()
