"""A log with calls, results, a secret and a compaction, brought in from real bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dshweb.access.models import User
from dshweb.sessionlog.models import Session
from dshweb.sessionlog.services.ingest import Import, ingest_path
from dshweb.sessionlog.services.report import Totals
from tests.builders import BORN, assistant, compaction, frame, header, human, write

SESSION = "session-00000000-0000-4000-8000-0000000000b0"
SECRET = "sk-proj-Zx81Lm0pQr5tUv9wYz2bCd4eFg6hIj8k"


def calls(seq: int, *made: tuple[str, str, dict[str, Any]], text: str = "Reading.") -> dict[str, Any]:
    """A message of the assistant with reasoning and these calls (id, tool, arguments)."""
    row = assistant(seq, text)
    content = row["data"]["message"]["content"]
    content.insert(0, {"type": "reasoning", "text": f"thinking at {seq}"})
    content += [{"type": "tool-call", "id": key, "name": tool, "arguments": given} for key, tool, given in made]
    return row


def result(seq: int, call: str, text: str, **more: Any) -> dict[str, Any]:
    message = {
        "role": "tool", "toolCallId": call, "content": [{"type": "text", "text": text}], "source": {"kind": "tool"},
        "id": more.pop("id", f"r{seq}"), **more,
    }  # fmt: skip
    data = {"turn": 1, "step": 1, "message": message}
    return {"type": "tool/result", "seq": seq, "time": BORN + seq * 1000, "data": data, "surfaceOp": "append"}


def note(seq: int, text: str) -> dict[str, Any]:
    """An event that is no message."""
    return {"type": "session/note", "seq": seq, "time": BORN + seq * 1000, "data": {"text": text}}


ROWS = [
    human(0, "Look at src/app.yaml, port 8080, 把端口改成 18080."),
    calls(1, ("c1", "read", {"path": "a.txt"}), ("c2", "read", {"path": "b.txt"}), ("c3", "bash", {"command": "ls"})),
    result(2, "c2", "second file"),
    result(3, "c1", "first file"),
    result(4, "c3", "listing"),
    note(5, f"token={SECRET}"),
    human(6, f"my key is {SECRET}"),
    *compaction(7, [0, 1, 2, 3, 4, 6], "Changed src/app.yaml, port 9090", "k1"),
    human(11, "thanks"),
]


def bring_in(
    people, folder: Path, rows: list[dict[str, Any]] | None = None, *, session: str = SESSION, owner: User
) -> Session:
    """The session of a log in `folder`, one frame a row."""
    made = [frame(header(session)), *(frame(row) for row in (ROWS if rows is None else rows))]
    path = write(folder, made, session)
    ingest(people, path, owner)
    return Session.unscoped.get(session_id=session)


def ingest(people, path: Path, owner: User | None = None) -> Totals:
    totals = Totals()
    ingest_path(path, run=Import.by(people.team, owner, inline=True), totals=totals)
    return totals
