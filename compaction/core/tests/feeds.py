"""Rows of made-up sessions for the measuring folds; times are the seq times a thousand."""

from __future__ import annotations

import io
import json
from typing import Any

from compaction.core.replay import Replay
from dshweb.sessionlog.core.events import Event
from dshweb.sessionlog.core.reader import read_log
from dshweb.sessionlog.tests.core.logs import HEADER, line

TOOLS = [{"name": "read", "description": "Read a file.", "parameters": {"type": "object"}}]


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def call(name: str = "read", arguments: str = "{}", ident: str = "c1") -> dict[str, Any]:
    return {"type": "tool-call", "id": ident, "name": name, "arguments": arguments}


class Session:
    """Builds rows with dense seqs; every method returns the seq of its row."""

    def __init__(self, version: int = 4) -> None:
        self.header = {**HEADER, "version": version}
        self.rows: list[dict[str, Any]] = []
        self.turn = self.step = 0

    def row(self, kind: str, data: Any = None, **members: Any) -> int:
        seq = len(self.rows)
        self.rows.append({"type": kind, "seq": seq, "time": seq * 1000, "data": data or {}, **members})
        return seq

    def begin(self) -> int:
        self.turn, self.step = self.turn + 1, 0
        return self.row("turn/start", {"turn": self.turn})

    def open(self) -> int:
        self.step += 1
        return self.row("step/start", {"turn": self.turn, "step": self.step})

    def close(self) -> int:
        return self.row("step/end", {"turn": self.turn, "step": self.step})

    def finish(self, kind: str = "completed") -> int:
        return self.row("turn/end", {"turn": self.turn, "reason": {"kind": kind}})

    def request(self, tools: Any = TOOLS, model: str = "m", **config: Any) -> int:
        header = {"config": {"provider": "p", "model": model, **config}}
        return self.row("request/header", {"header": header | ({"tools": tools} if tools else {}), "reason": "initial"})

    def system(self, *blocks: Any, op: Any = "append") -> int:
        return self._message("system/message", "system", list(blocks), op)

    def user(self, *blocks: Any, op: Any = "append", source: Any = None) -> int:
        data = {
            "role": "user",
            "content": list(blocks),
            "source": source or {"kind": "user"},
            "id": f"u{len(self.rows)}",
        }
        return self.row("user/message", data, surfaceOp=op)

    def answer(self, *blocks: Any, op: Any = "append", **data: Any) -> int:
        return self._message("assistant/message", "assistant", list(blocks), op, **data)

    def result(self, *blocks: Any, op: Any = "append", **data: Any) -> int:
        return self._message("tool/result", "tool", list(blocks), op, **data)

    def compact(self, start: int, end: int, shadowed: list[int], body: str = "S", *, turn: int | None = None) -> int:
        """The rows of a completed compaction; seq of the checkpoint."""
        self.row("compaction/start", {"compactionId": "c", "turn": turn})
        self.row("compaction/summary", {"compactionId": "c", "summary": [text(body)], "shadowedSeqs": shadowed,
                 "shadowedRange": {"start": start, "end": end}, "shadowedTokenCount": 1})  # fmt: skip
        op = {"op": "replace", "startSeq": start, "endSeq": end}
        blocks = [text("P\n\n<compacted-summary>"), text(body), text("</compacted-summary>")]
        seq = self.user(*blocks, op=op, source={"kind": "compact-checkpoint", "compactionId": "c"})
        self.row("compaction/end", {"compactionId": "c", "turn": turn})
        return seq

    def _message(self, kind: str, role: str, content: list[Any], op: Any, **data: Any) -> int:
        message = {"role": role, "content": content, "source": {"kind": role}, "id": f"i{len(self.rows)}"}
        return self.row(kind, {"turn": self.turn, "step": self.step, "message": message, **data}, surfaceOp=op)

    def events(self) -> list[Event]:
        source = io.BytesIO(b"".join(line(row) for row in [self.header, *self.rows]))
        return [event for batch in read_log(source) for event in batch.events]

    def replay(self, on_check: Any = None) -> Replay:
        replay = Replay(on_check)
        replay.meter.version = self.header["version"]
        for event in self.events():
            replay.feed(event)
        assert json.loads(json.dumps(replay.to_state())) == replay.to_state()
        return replay


def opened(version: int = 4) -> Session:
    """A session inside the first step of its first turn."""
    session = Session(version)
    session.begin()
    session.open()
    return session
