"""Small logs made on the spot, framed as DSH frames them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import zstandard

CHECKED = zstandard.ZstdCompressor(level=3, write_checksum=True, write_content_size=False)
BORN = 1_790_000_000_000


def header(session: str = "session-00000000-0000-4000-8000-00000000000a", **more: Any) -> dict[str, Any]:
    return {
        "type": "session", "version": 4, "id": session, "createdAt": BORN, "cwd": "/home/dev/proj", "isSeeded": False,
        "delegationDepth": 0, **more,
    }  # fmt: skip


def human(seq: int, text: str) -> dict[str, Any]:
    data = {"content": [{"type": "text", "text": text}], "source": {"kind": "user"}, "role": "user", "id": f"u{seq}"}
    return {"type": "user/message", "seq": seq, "time": BORN + seq * 1000, "data": data, "surfaceOp": "append"}


def assistant(seq: int, text: str) -> dict[str, Any]:
    message = {
        "role": "assistant",
        "content": [{"type": "text", "text": text}],
        "source": {"kind": "model"},
        "id": f"a{seq}",
    }
    data = {"turn": 1, "step": 1, "message": message}
    return {"type": "assistant/message", "seq": seq, "time": BORN + seq * 1000, "data": data, "surfaceOp": "append"}


def compaction(seq: int, shadowed: list[int], summary: str, key: str = "c1") -> list[dict[str, Any]]:
    """The four rows of a completed compaction, from `seq` on."""
    block = [{"type": "text", "text": summary}]
    span = {"start": shadowed[0], "end": shadowed[-1]}
    rows: list[dict[str, Any]] = [
        {"type": "compaction/start", "data": {"compactionId": key, "turn": 1}},
        {"type": "compaction/summary", "data": {
            "compactionId": key, "summary": block, "rawOutput": block, "llmStreamCall": True, "shadowedRange": span,
            "shadowedSeqs": shadowed, "shadowedTokenCount": 900, "provider": "p", "model": "m", "maxTokens": 3000,
        }},
        {"type": "user/message", "data": {
            "content": block, "source": {"kind": "compact-checkpoint", "compactionId": key}, "role": "user", "id": f"k{seq}",
        }, "surfaceOp": {"op": "replace", "startSeq": shadowed[0], "endSeq": shadowed[-1]},
         "sourceEventSeqs": [seq, seq + 1, *shadowed]},
        {"type": "compaction/end", "data": {"compactionId": key, "turn": 1}},
    ]  # fmt: skip
    return [{**row, "seq": seq + n, "time": BORN + (seq + n) * 1000} for n, row in enumerate(rows)]


def frame(*rows: dict[str, Any]) -> bytes:
    return CHECKED.compress(b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows))


def session_frames(*, rounds: int = 2) -> list[bytes]:
    """A session with some talk and `rounds` compactions, one durable batch a frame."""
    frames, seq, shadow = [frame(header())], 0, []
    for n in range(rounds):
        talk = [
            human(seq, f"Round {n}: use port 90{n}0, never 80{n}0. See /srv/app/conf-{n}.yaml"),
            assistant(seq + 1, f"Took {n + 3} s."),
        ]
        shadow = [*shadow, seq, seq + 1]
        frames += [frame(row) for row in talk]
        rows = compaction(
            seq + 2,
            shadow,
            f"Summary {n}: the port is 90{n}0, it took {n + 3} s, see /srv/app/conf-{n}.yml.",
            key=f"c{n}",
        )
        frames += [frame(rows[0]), frame(*rows[1:])]
        shadow = [seq + 4]
        seq += 6
    return frames


def write(folder: Path, frames: list[bytes], session: str = "session-00000000-0000-4000-8000-00000000000a") -> Path:
    path = folder / "sessions" / "--home-dev-proj--" / session / "session.v4.jsonl.zstd"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(frames))
    return path
