"""Everything the database holds of the logs, without ids and clocks: equal pictures are equal results, on any engine.

In a process of its own: `python -m tests.picture [WORD…]` prints `picture(WORD…)` as canonical JSON.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import django

# names in the store, counters of steps, clocks, what the file system says, and a report, which tells whether it is news
UNEQUAL = {"stored", "revision", "read_at", "created_at", "mtime_ns", "inode", "seen_at", "state", "report"}
PLACE = "log__places__location"


def picture(*words: str) -> dict[str, Any]:
    """All projected rows in a stable order; `found` says which messages (place, position) hold each of `words`."""
    from audit.core.record import dumps
    from audit.models import Audit, Signal
    from compaction.models import LogFacts
    from dshweb.sessionlog.models import Compaction, Frame, LogFile, Message, Session, SourceFile
    from dshweb.sessionlog.services import search

    def rows(model: Any, order: list[str], *more: str) -> list[dict[str, Any]]:
        names = [
            field.attname
            for field in model._meta.concrete_fields
            if not (field.primary_key or field.is_relation or field.attname in UNEQUAL)
        ]
        return list(model.unscoped.order_by(*order).values(*order, *names, *more))

    spots = dict(Message.unscoped.order_by(f"-{PLACE}").values_list("id", PLACE))
    positions = dict(Message.unscoped.values_list("id", "position"))
    attempt = [f"compaction__{PLACE}", "compaction__position"]
    records = Audit.unscoped.order_by(*attempt, "config_fp").values_list(*attempt, "record")
    return {
        "sessions": rows(Session, ["session_id"], "created_at", "current__file_name"),
        "logs": rows(LogFile, ["places__location"], "session__session_id"),
        "places": rows(SourceFile, ["location"], "log__session__session_id"),
        "messages": rows(Message, [PLACE, "position"]),
        "frames": rows(Frame, [PLACE, "offset", "kind"]),
        "compactions": rows(Compaction, [PLACE, "position"]),
        "facts": [
            row | {"cuts": row["cuts"] and bytes(row["cuts"]).hex()} for row in rows(LogFacts, [PLACE], PLACE, "state")
        ],
        "audits": [[place, position, dumps(record).decode()] for place, position, record in records],
        "signals": rows(Signal, [f"audit__{name}" for name in attempt] + ["rank"]),
        "found": {
            word: sorted(
                [spots[pk], positions[pk]]
                for pk in Message.unscoped.filter(pk__in=search.matching(word)).values_list("id", flat=True)
            )
            for word in words
        },
    }


if __name__ == "__main__":
    django.setup()
    sys.stdout.write(json.dumps(picture(*sys.argv[1:]), sort_keys=True, default=str))
