"""Logs with poison in every field: what a broken or a hostile writer may leave where a number, a text or an id belongs.

A row is a plain value; `poisoned` gives a variant of it for each of its members, at any depth, in which that member is
the poison, and `spread` one in which every text holds it. `line` writes poison that `json` would refuse.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.builders import BORN, assistant, compaction, header, human

DEEP, DEEPER = "@@deep@@", "@@deeper@@"  # stand for lists nested 90 and 3000 deep
POISONS: dict[str, Any] = {
    "nul": "a\x00b",
    "surrogate": "a\ud800b",
    "pair": "a\udc00\ud83db",
    "empty": "",
    "long": "words " * 30_000,
    "escape": "\x1b]8;;x\x07\u202e\r\n<script>'\";--%s{}\\u0000",
    "huge": 10**40,
    "over-63": 2**63,
    "under-63": 2**63 - 1,
    "over-64": 2**64,
    "below": -(2**63) - 1,
    "minus": -1,
    "fraction": 1.5,
    "float": 1e308,
    "true": True,
    "null": None,
    "object": {"": {"type": "text", "text": "x", "\x00": "\x00"}},
    "list": [["\x00"], {"type": "text", "text": "\ud800"}, None, 10**30],
    "deep": DEEP,
    "deeper": DEEPER,
}


def line(row: Any) -> bytes:
    """The row as a line of a log, its stand-ins replaced."""
    text = json.dumps(row).encode() + b"\n"
    for name, depth in ((DEEP, 90), (DEEPER, 3000)):
        text = text.replace(f'"{name}"'.encode(), b"[" * depth + b"]" * depth)
    return text


def session() -> list[dict[str, Any]]:
    """One row of every kind that anything is read from, the header first; numbered from 0."""
    usage = {"inputTokens": 5, "outputTokens": 6, "cacheReadTokens": 7, "cacheWriteTokens": 8}
    call = {"type": "tool-call", "id": "t1", "name": "bash", "arguments": {"command": "cat /srv/app/a.yaml", "n": 3}}
    said = assistant(5, "see /srv/app/a.yaml: 13 ms")
    said["data"]["message"]["content"].append(call)
    said["data"]["usage"] = usage
    result = {
        "role": "tool", "toolCallId": "t1", "content": [{"type": "text", "text": "port 9000"}], "isError": False, "id": "r1",
        "source": {"kind": "tool", "callId": "t1", "name": "bash"},
    }  # fmt: skip
    rows: list[dict[str, Any]] = [
        {"type": "request/header", "data": {"header": {"config": {"model": "m", "provider": "p"}}}},
        {"type": "session/title", "data": {"title": "a title"}},
        {"type": "turn/start", "data": {"turn": 1}},
        {"type": "request/context", "data": {"contextWindow": 1000}},
        human(4, "use /srv/app/a.yaml, not /srv/app/b.yaml"),
        said,
        {"type": "tool/call", "data": {"callId": "t1", "name": "bash", "turn": 1, "step": 1}},
        {"type": "tool/result", "data": {"turn": 1, "step": 1, "message": result, "error": {"code": "X", "message": "m"}},
         "surfaceOp": "append"},
        {"type": "working-directory/change", "data": {"cwd": "/srv/app"}},
        {"type": "agent-preset/selected", "data": {"agentPreset": "default"}},
        {"type": "plan/mode", "data": {"active": True}},
        {"type": "goal/change", "data": {"operation": "set", "goal": "ship /srv/app"}},
        {"type": "todo/write", "data": {"todos": [{"text": "a", "status": "open"}]}},
        {"type": "tool/call", "data": {"callId": "q1", "name": "ask_user_question"}},
        {"type": "job/registered", "data": {"jobId": "j1"}},
        {"type": "subagent/catalog", "data": {"childId": "c1"}},
        *compaction(16, [4, 5, 7], "Summary: /srv/app/c.yaml, port 9001, took 13 ms"),
        {"type": "compaction/start", "data": {"compactionId": "c2", "turn": None, "sourceCommandId": "m1"}},
        {"type": "compaction/end", "data": {"compactionId": "c2", "turn": None, "error": {"message": "no"}}},
        {"type": "turn/end", "data": {"turn": 1}},
    ]  # fmt: skip
    for n, row in enumerate(rows):
        row.update(seq=n, time=BORN + n * 1000)
    return [header(agentPreset="default", parentSession="session-p", origin="fork", seedLength=2), *rows]


def poisoned(value: Any, poison: Any) -> Iterator[Any]:
    """`value` with one member, or the name of one member, replaced by `poison`: a variant for each place."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield {**value, key: poison}
            for variant in poisoned(member, poison):
                yield {**value, key: variant}
            if isinstance(poison, str):
                yield {(poison if k == key else k): v for k, v in value.items()}
    elif isinstance(value, list):
        for n, member in enumerate(value):
            yield [*value[:n], poison, *value[n + 1 :]]
            for variant in poisoned(member, poison):
                yield [*value[:n], variant, *value[n + 1 :]]


KINDS = {"text", "tool-call", "user", "model", "compact-checkpoint", "tool", "append", "replace"}


def spread(value: Any, poison: str) -> Any:
    """`value` with `poison` behind every text that does not say what kind of thing something is."""
    if isinstance(value, dict):
        kinds = ("type", "role", "op", "kind")
        return {key: member if key in kinds else spread(member, poison) for key, member in value.items()}
    if isinstance(value, list):
        return [spread(member, poison) for member in value]
    return value + poison if isinstance(value, str) and value not in KINDS else value


def write_all(folder: Path) -> int:
    """Plain logs in a DSH home at `folder`: for each poison one with all poisoned rows in it, one for each poisoned
    header, and one in which all texts hold it. Returns their number."""
    head, *rows = session()
    names = ((f"session-{n:08d}-0000-4000-8000-000000000000", n) for n in range(10_000))

    def write(lines: list[bytes]) -> None:
        name, _n = next(names)
        lines[0] = lines[0].replace(head["id"].encode(), name.encode())  # unless it is poisoned, a session each
        path = folder / "sessions" / "--p--" / name / "session.v4.jsonl"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"".join(lines))

    count = 0
    for poison in POISONS.values():
        write([line(head), *(line(bad) for row in rows for bad in poisoned(row, poison))])
        headers = [{**head, key: poison} for key in head]
        for bad in headers:
            write([line(bad), *map(line, rows[:6])])
        count += 1 + len(headers)
        if isinstance(poison, str):
            write([line(spread(row, poison)) for row in [head, *rows]])
            count += 1
    many = " ".join(f"w{n}" for n in range(1_200_000))
    write([line(head), line(human(0, "x" * (10 << 20))), line(human(1, many)), line(human(2, "after ten megabytes"))])
    return count + 1
