"""Logs made for tests: rows, frames, whole logs; and reading one in full."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import zstandard

from dshweb.sessionlog.core.events import Event
from dshweb.sessionlog.core.index import FrameInfo
from dshweb.sessionlog.core.limits import Limits
from dshweb.sessionlog.core.messages import Message
from dshweb.sessionlog.core.reader import LogReader, read_log
from dshweb.sessionlog.core.scan import Scan

DATA = Path(__file__).parents[4] / "tests" / "data"
CORPUS = DATA / "corpus"
FIELD = DATA / "field"
HEADER = {"type": "session", "version": 4, "id": "session-1", "createdAt": 1790000000000, "isSeeded": False,
          "delegationDepth": 0}  # fmt: skip


def frame(data: bytes, *, checksum: bool = True) -> bytes:
    """One frame as DSH writes it: checksum, no content size."""
    compressor = zstandard.ZstdCompressor(write_checksum=checksum, write_content_size=False).compressobj()
    return compressor.compress(data) + compressor.flush()


def line(row: Any) -> bytes:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def row(seq: int, kind: str = "turn/end", data: Any = None, **members: Any) -> dict[str, Any]:
    return {"type": kind, "seq": seq, "time": 1790000000000 + seq, "data": {} if data is None else data, **members}


def user(seq: int, text: str, source: Any = None, **members: Any) -> dict[str, Any]:
    data = {"content": [{"type": "text", "text": text}], "source": source or {"kind": "user"}, "role": "user",
            "id": f"u{seq}"}  # fmt: skip
    return row(seq, "user/message", data, surfaceOp=members.pop("op", "append"), **members)


def assistant(seq: int, content: list[Any], **data: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, "source": {"kind": "model", "provider": "p", "model": "m"}}
    return row(seq, "assistant/message", {"turn": 1, "step": 1, "message": message, **data}, surfaceOp="append")


def result(
    seq: int, call: str, text: str, *, message_id: str = "t", op: Any = "append", **members: Any
) -> dict[str, Any]:
    message = {"role": "tool", "toolCallId": call, "content": [{"type": "text", "text": text}], "isError": False,
               "source": {"kind": "tool", "callId": call}, "id": message_id}  # fmt: skip
    return row(seq, "tool/result", {"turn": 1, "step": 1, "message": message}, surfaceOp=op, **members)


def replace(start: int, end: int) -> dict[str, Any]:
    return {"op": "replace", "startSeq": start, "endSeq": end}


def compaction(seq: int, name: str, shadowed: list[int], text: str = "summary") -> list[dict[str, Any]]:
    """The four rows of a completed compaction, from `seq`."""
    summary = {"compactionId": name, "summary": [{"type": "text", "text": text}], "shadowedSeqs": shadowed,
               "shadowedRange": {"start": shadowed[0], "end": shadowed[-1]}, "shadowedTokenCount": 9}  # fmt: skip
    return [
        row(seq, "compaction/start", {"compactionId": name, "turn": 1}),
        row(seq + 1, "compaction/summary", summary),
        user(seq + 2, text, {"kind": "compact-checkpoint", "compactionId": name},
             op=replace(shadowed[0], shadowed[-1]), sourceEventSeqs=[seq, seq + 1, *shadowed]),
        row(seq + 3, "compaction/end", {"compactionId": name, "turn": 1}),
    ]  # fmt: skip


def log_bytes(rows: Iterable[Any], *, header: Any = HEADER, per_frame: int = 2) -> bytes:
    """A compressed log: the header in a frame of its own, then `per_frame` rows each."""
    rows = list(rows)
    parts = [frame(line(header))] if header is not None else []
    parts += [frame(b"".join(map(line, rows[i : i + per_frame]))) for i in range(0, len(rows), per_frame)]
    return b"".join(parts)


@dataclass
class Reading:
    """A log read to its end."""

    reader: LogReader
    frames: list[FrameInfo]
    events: list[Event]
    messages: list[Message]
    scan: Scan

    @property
    def codes(self) -> list[str]:
        return [d.code for d in self.reader.damage]

    @property
    def seqs(self) -> list[int]:
        return [e.seq for e in self.events]

    def get(self, seq: int) -> Event | None:
        return next((e for e in self.events if e.seq == seq), None)


def read(source: bytes | Path, *, limits: Limits | None = None, compressed: bool | None = None,
         resume: Any = None, scan: Scan | None = None) -> Reading:  # fmt: skip
    """Read all of it and check that the accounting adds up."""
    data = source.read_bytes() if isinstance(source, Path) else source
    reader = read_log(io.BytesIO(data), compressed=compressed, limits=limits, resume=resume)
    reading = Reading(reader, [], [], [], scan or Scan())
    for batch in reader:
        reading.frames.append(batch.frame)
        reading.events += batch.events
        reading.messages += reading.scan.feed_batch(batch, reader)
    accounting = reader.accounting
    assert accounting.adds_up(), accounting
    assert accounting.size == len(data)
    if resume is None:
        assert accounting.events == len(reading.events)
    return reading


def plain(event: Event) -> tuple[Any, ...]:
    """All of an event that must not depend on how it was read."""
    return (event.type, event.seq, event.time, event.data, event.row, event.surface_op, event.source_event_seqs,
            event.ignorable, event.numbered_by_position, event.repaired, event.extra)  # fmt: skip


def corpus_logs() -> list[tuple[str, Path, dict[str, Any]]]:
    """Scenario, path and facts of every intact log of the corpus."""
    found = []
    for facts in sorted(CORPUS.glob("*/facts.json")):
        for entry in json.loads(facts.read_text())["logs"]:
            found.append((facts.parent.name, facts.parent / entry["path"], entry))
    return found


def damaged_log(name: str) -> tuple[Path, dict[str, Any]]:
    folder = CORPUS / name
    (path,) = folder.glob("sessions/*/*/session*.jsonl*")
    return path, json.loads((folder / "facts.json").read_text())["facts"]
