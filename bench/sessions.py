"""One generated DSH session as rows of a v0 log: turns, steps, streamed chunks, tools, compactions. Seeded.

Shapes are those of the recorded `legacy-v0` log of the shared corpus: every chunk is a row, an assistant message names
its chunks in `sourceEventSeqs`, a compaction's `shadowedSeqs` are the surface nodes its checkpoint really replaces.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import Any

from bench.words import Text

START = 1_796_000_000_000
PREAMBLE = "This is an automatically generated checkpoint condensing an earlier span.\n\n<compacted-summary>"
HEADINGS = [
    "Primary Request and Intent",
    "Key Technical Concepts",
    "Files and Code",
    "Errors and Fixes",
    "Pending Jobs",
    "Current Work",
    "Next Step",
    "Critical Context",
]
ROUTE = {"provider": "deepseek-official", "model": "deepseek-v4-flash"}
MOST_EVENTS_OF_A_STEP = 40


@dataclass
class Rows:
    """`rows` are the log's events without the header, one JSON text each; `flushes` where DSH closes a batch."""

    header: bytes
    rows: list[bytes] = field(default_factory=list)
    flushes: list[int] = field(default_factory=list)
    compactions: int = 0


class Session:
    """Makes exactly `events` rows of about `size` bytes together, with `compactions` completed ones among them.

    A session that is not `streamed` is brackets of turns and steps, messages and tools, without the rows of chunks and of
    the inbox: more of it is text.
    """

    def __init__(self, seed: str, *, events: int, size: int, compactions: int = 0, streamed: bool = True) -> None:
        self.rng = random.Random(seed)
        self.text = Text(self.rng)
        self.events, self.size, self.streamed = events, size, streamed
        self.id = f"session-{self.text.uuid()}"
        self.cwd = "/srv/demo-app"
        self.clock = START + self.rng.randrange(10**9)
        self.surface: list[int] = []
        self.bytes = 0
        self.turn = self.step = 0
        head = {
            "type": "session",
            "version": 0,
            "id": self.id,
            "createdAt": self.clock,
            "cwd": self.cwd,
            "delegationDepth": 0,
        }
        self.out = Rows(header=_dump(head))
        self._marks = [events * (k + 1) // (compactions + 1) for k in range(compactions)]

    # rows

    def _add(self, kind: str, data: dict[str, Any], **more: Any) -> int:
        seq = len(self.out.rows)
        self.clock += 1 + int(self.rng.random() * 4)
        row = _dump({"type": kind, "seq": seq, "time": self.clock, "data": data, **more})
        self.out.rows.append(row)
        self.bytes += len(row) + 1
        operation = more.get("surfaceOp")
        if operation == "append":
            self.surface.append(seq)
        elif operation:
            first, last = self.surface.index(operation["start"]), self.surface.index(operation["end"])
            self.surface[first : last + 1] = [seq]
        return seq

    def _flush(self) -> None:
        self.out.flushes.append(len(self.out.rows))

    def _chunk(self, chunk: dict[str, Any]) -> int:
        return self._add("assistant/chunk", {"turn": self.turn, "step": self.step, "chunk": chunk})

    def make(self) -> Rows:
        self._add("permission/preset", {"preset": "danger-full-access"})
        self._add("sandbox/mode", {"mode": "danger-full-access"})
        self._add("approval/policy", {"policy": "never"})
        reserve = MOST_EVENTS_OF_A_STEP + 10
        while self.events - len(self.out.rows) > 2 * reserve:
            self._open_turn()
            for _ in range(self.rng.randint(4, 12)):
                if self.events - len(self.out.rows) < 2 * reserve:
                    break
                self._one_step(tool=True)
                self._compact_if_due()
            self._one_step(tool=False)
            self._close_turn()
        self._open_turn()
        self._one_step(tool=False, fill=self.events - 1)
        self._close_turn()
        return self.out

    def _open_turn(self) -> None:
        self.turn += 1
        self.step = 0
        message = {
            "content": [{"type": "text", "text": self.text.prose(self.rng.randint(60, 600))}],
            "source": {"kind": "user"},
            "role": "user",
            "id": self.text.uuid(),
        }
        if self.streamed:
            self._add("agent/inbox/spliced", {"target": "next-turn", "start": 0, "inserted": [message]})
            self._flush()
        self._add("turn/start", {"turn": self.turn})
        if self.streamed:
            self._add("agent/inbox/spliced", {"target": "next-turn", "start": 0, "removedCount": 1, "inserted": []})
        self._pending: dict[str, Any] | None = message

    def _close_turn(self) -> None:
        self._add("turn/end", {"turn": self.turn, "reason": {"kind": "completed"}})
        self._flush()

    def _header(self, reason: str) -> None:
        tools = [
            {
                "name": name,
                "description": self.text.prose(300),
                "parameters": {"type": "object", "properties": {}, "required": []},
            }
            for name in ("read", "write", "edit", "bash", "search", "fetch")
        ]
        config = {**ROUTE, "maxTokens": 8000, "reasoningEffort": "high"}
        header = {"config": config, "system": self.text.prose(1500), "tools": tools}
        self._add("request/header", {"header": header, "reason": reason})
        self._add("request/context", {**ROUTE, "contextWindow": 128_000})

    # one request to the model and what came of it

    def _one_step(self, *, tool: bool, fill: int | None = None) -> None:
        self.step += 1
        place = {"turn": self.turn, "step": self.step}
        self._add("step/start", place)
        said = len(self.out.rows)
        if self._pending is not None:
            self._add("user/message", self._pending, surfaceOp="append")
            self._pending = None
        if self.turn == 1 and self.step == 1:
            self._add(
                "session/title",
                {"title": self.text.phrase()[:60], "messageSeqs": [said], "source": {"kind": "fallback"}},
            )
            self._header("initial")
        self._flush()
        first = len(self.out.rows)
        reasoning = self.text.prose(self.rng.randint(40, 300)) if self.rng.random() < 0.7 else ""
        answer = self.text.prose(self.rng.randint(40, 400))
        call = {"id": f"call_{self.rng.getrandbits(96):024x}", "name": self.rng.choice(("read", "bash", "search"))}
        if tool:
            self.text.facts.append(path := self.text.path())
            arguments = json.dumps({"description": self.text.phrase(), "file_path": path}, ensure_ascii=False)
            call["arguments"] = arguments
        blocks: list[dict[str, Any]] = [{"type": "reasoning", "text": reasoning}] if reasoning else []
        blocks.append({"type": "text", "text": answer})
        if tool:
            blocks.append({"type": "tool-call", **call})
        chunks = self.streamed or fill is not None  # the last answer brings the rows to their number
        for index, block in enumerate(blocks if chunks else ()):
            self._stream(index, block, fill=fill if block["type"] == "text" else None)
        for index, block in enumerate(blocks if chunks else ()):
            self._chunk({"type": "block-end", "index": index, "block": block})
        tokens = {
            "inputTokens": 500 + self.bytes % 3000,
            "outputTokens": len(answer) // 4,
            "cacheReadTokens": self.bytes // 400,
        }
        tokens["totalTokens"] = sum(tokens.values())
        if chunks:
            self._chunk({"type": "usage", "usage": tokens})
            self._chunk({"type": "finish", "reason": {"kind": "tool-calls" if tool else "stop"}})
        message = {"role": "assistant", "content": blocks, "source": {"kind": "model", **ROUTE}, "id": self.text.uuid()}
        data = {**place, "message": message, "usage": tokens}
        sources = {"sourceEventSeqs": [[first, len(self.out.rows) - 1]]} if chunks else {}
        self._add("assistant/message", data, **sources, surfaceOp="append")
        if tool:
            self._tool(place, call)
        self._add("step/end", place)
        self._flush()

    def _stream(self, index: int, block: dict[str, Any], *, fill: int | None) -> None:
        self._chunk({"type": "block-start", "index": index, "blockType": block["type"]})
        if block["type"] == "tool-call":
            name = {"id": block["id"], "name": block["name"]}
            self._chunk({"type": "tool-call-delta", "index": index, **name, "argumentsDelta": block["arguments"]})
            return
        kind = f"{block['type']}-delta"
        pieces = 1 + (len(block["text"]) > 200)
        if (
            fill is not None
        ):  # after this: the block ends, usage, finish, message, step/end; the turn's end comes on top
            pieces = fill - len(self.out.rows) - 5 - index
        for text in _cut(block["text"], pieces):
            self._chunk({"type": kind, "index": index, "text": text})

    def _tool(self, place: dict[str, int], call: dict[str, str]) -> None:
        seq = self._add(
            "tool/call", {**place, "callId": call["id"], "name": call["name"], "arguments": call["arguments"]}
        )
        self._flush()
        # a Pareto tail, steered so that the log as a whole keeps to its size
        due = self.size * (len(self.out.rows) + 6) / self.events - self.bytes
        wanted = max(60.0, due * 0.2 + 600)
        length = int(min(60_000, wanted * 0.28 * self.rng.paretovariate(1.3)))
        inner = {"type": "tool-result", "toolCallId": call["id"], "isError": False}
        inner["content"] = [{"type": "text", "text": self.text.listing(length)}]
        message = {
            "source": {"kind": "tool", "callId": call["id"]},
            "content": [inner],
            "role": "user",
            "id": self.text.uuid(),
        }
        self._add("tool/result", {**place, "message": message}, sourceEventSeqs=[seq], surfaceOp="append")

    # compactions

    def _compact_if_due(self) -> None:
        if not self._marks or len(self.out.rows) < self._marks[0]:
            return
        self._marks.pop(0)
        shadowed = self.surface[: -min(12, len(self.surface) // 4)]
        key = {"compactionId": self.text.uuid()}
        start = self._add("compaction/start", {**key, "turn": self.turn})
        summary = [{"type": "text", "text": self._summary()}]
        reach = {"start": shadowed[0], "end": shadowed[-1]}
        usage = {"inputTokens": 40, "outputTokens": 900, "totalTokens": 90_940, "cacheReadTokens": 90_000}
        data = {**key, "summary": summary, "rawOutput": summary, "llmStreamCall": True, "shadowedRange": reach}
        data |= {"shadowedSeqs": shadowed, "shadowedTokenCount": 90_000, **ROUTE, "maxTokens": 4000, "usage": usage}
        row = self._add("compaction/summary", data)
        content = [{"type": "text", "text": PREAMBLE}, *summary, {"type": "text", "text": "</compacted-summary>"}]
        message = {"content": content, "source": {"kind": "plugin", "plugin": "compact", **key}, "role": "user"}
        message["id"] = self.text.uuid()
        self._add(
            "user/message", message, sourceEventSeqs=[start, row, *shadowed], surfaceOp={"op": "replace", **reach}
        )
        self._add("compaction/end", {**key, "turn": self.turn})
        self._header("series")
        self._flush()
        self.out.compactions += 1
        self.text.facts.clear()

    def _summary(self) -> str:
        """Facts of the span, and of each kind a few that are altered or stand nowhere."""
        seen = self.text.facts
        kept = self.rng.sample(seen, min(60, len(seen)))
        changed = [fact.replace("1", "7", 1) for fact in self.rng.sample(seen, min(6, len(seen)))]
        lines = [f"- {self.text.phrase()} {fact}" for fact in kept + changed]
        lines += [f"- {self.text.phrase()} {self.text.fact()}" for _ in range(4)]
        self.rng.shuffle(lines)
        parts = [f"## {heading}\n" + "\n".join(lines[k :: len(HEADINGS)]) for k, heading in enumerate(HEADINGS)]
        return "\n\n".join(parts) + "\n"


def _dump(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _cut(text: str, pieces: int) -> list[str]:
    pieces = max(1, pieces)
    size = max(1, -(-len(text) // pieces))
    return [text[k * size : (k + 1) * size] for k in range(pieces)]
