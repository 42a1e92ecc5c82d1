"""Rows that no recorded session has, put into a log that the real harness then resumes: it prices and prunes them as we do.

Several text blocks in one result, an empty result, a lone surrogate, images, files and blocks nobody knows.
"""

from __future__ import annotations

import json

import pytest

from compaction.core.replay import Replay
from compaction.core.select import prunable, pruned
from dshweb.sessionlog.tests.core.logs import frame

from .feeds import text
from .harness import MODEL, PROVIDER, needs_harness, projection, run
from .recorded import events_of

pytestmark = [pytest.mark.harness, needs_harness]

SETTINGS = {"thresholdRatio": 0.3, "headroomTokens": 1000, "maxTokens": 3000, "retainTokens": 300}
LENGTHS = [[(4096, 5000), (4096, 3100, 1024), ()], [(5000, 0, 5000), (3000, 1096, 0, 4000, 1024, 0), (8000, 1, 192, 0)]]
EXTRAS = {
    "nothing": [],
    "image": [{"type": "image", "mediaType": "image/png", "attachmentId": "a", "offloaded": True, "width": 30}],
    "file": [{"type": "file", "name": "报告.txt", "mediaType": "text/plain", "attachmentId": "z"}],
    "unknown": [{"type": "later", "x": 1e21, "10": 1, "2": 2.5, "y": "🙂 \n"}],
}


def crafted(log, lengths, extra):
    """Append a closed turn with those results to a cold log; its session id."""
    header, events = events_of(log)
    first, time = events[-1].seq + 1, events[-1].time
    rows = []

    def row(kind, data, **members):
        rows.append({"type": kind, "seq": first + len(rows), "time": time, "data": data, **members})
        return rows[-1]["seq"]

    def answer(step, ident, content):
        stream = [{"type": "chunk", "time": time, "chunk": {"type": "block-end", "index": n, "block": block}}
                  for n, block in enumerate(content)]  # fmt: skip
        source = {"kind": "model", "provider": PROVIDER, "model": MODEL}
        message = {"role": "assistant", "content": content, "source": source, "id": ident}
        row("assistant/message", {"turn": 2, "step": step, "message": message, "stream": stream}, surfaceOp="append")

    calls = [{"type": "tool-call", "id": f"call_x{n}", "name": "bash", "arguments": json.dumps({"command": f"echo {n} 中🙂"})}
             for n in range(len(lengths))]  # fmt: skip
    row("turn/start", {"turn": 2})
    row("step/start", {"turn": 2, "step": 1})
    content = [text("begin 🙂 中文 @LONE@ end"), text(""), *extra]
    user = {"content": content, "source": {"kind": "user"}, "role": "user", "id": "u-x"}
    row("user/message", user, surfaceOp="append")
    answer(1, "a-x1", [{"type": "reasoning", "text": "thinking 🙂"}, text("calling"), *calls])
    for n, parts in enumerate(lengths):
        made = row(
            "tool/call",
            {"turn": 2, "step": 1, "callId": calls[n]["id"], "name": "bash", "arguments": calls[n]["arguments"]},
        )
        message = {"role": "tool", "toolCallId": calls[n]["id"], "isError": False, "id": f"t-x{n}",
                   "source": {"kind": "tool", "callId": calls[n]["id"]},
                   "content": [text("🙂中ab"[i % 4] * length) for i, length in enumerate(parts)]}  # fmt: skip
        row("tool/result", {"turn": 2, "step": 1, "message": message}, surfaceOp="append", sourceEventSeqs=[made])
    row("step/end", {"turn": 2, "step": 1})
    row("step/start", {"turn": 2, "step": 2})
    answer(2, "a-x2", [text("ok")])
    row("step/end", {"turn": 2, "step": 2})
    row("turn/end", {"turn": 2, "reason": {"kind": "completed"}})
    lines = "".join(json.dumps(r, ensure_ascii=False, separators=(",", ":")) + "\n" for r in rows)
    with log.open("ab") as file:
        file.write(frame(lines.replace("@LONE@", "\\ud83d").encode()))
    return header.id


@pytest.mark.parametrize("extra", EXTRAS)
@pytest.mark.parametrize("lengths", LENGTHS, ids=["three results", "many blocks"])
def test_the_harness_prices_and_prunes_made_up_rows_as_we_do(lengths, extra, tmp_path):
    if extra != "nothing" and lengths is not LENGTHS[0]:
        pytest.skip("one set of results is enough for each extra block")
    log = run(tmp_path, {**SETTINGS, "thresholdRatio": 0.9}, [{"text": "hi"}], pruner=True, task="Hello.")
    session = crafted(log, lengths, EXTRAS[extra])
    run(tmp_path, SETTINGS, [{"text": "Going on."}], pruner=True, task="Go on.", session=session)
    header, events = events_of(log)
    by_seq = {event.seq: event for event in events}
    stated = projection(tmp_path)["contextPressure"]
    replay = Replay()
    replay.start(header)
    prunes = summaries = 0
    for event in events:
        if event.type == "compaction/prune":
            node = prunable(replay.meter.surface)[0]
            assert (event.body["shadowedSeqs"], event.body["shadowedTokenCount"]) == ([node.seq], node.tokens)
            original, written = by_seq[node.seq], by_seq[event.seq + 1]
            assert pruned(original.body["message"]["content"]) == written.body["message"]["content"]
            prunes += 1
        elif event.type == "compaction/summary":
            found = replay.select(SETTINGS["retainTokens"]).range
            assert (event.body["shadowedSeqs"], event.body["shadowedTokenCount"]) == (list(found.seqs), found.tokens)
            summaries += 1
        replay.feed(event)
        if event.seq == stated["seq"]:
            assert replay.meter.surface.tokens == stated["val"]["surfaceTokens"]
    assert stated["seq"] >= events[-1].seq - 3
    if extra in ("nothing", "unknown"):  # without the attached bytes the harness stops before it prunes
        assert prunes == sum(sum(parts) > 8192 for parts in lengths)
    if extra == "nothing":
        assert summaries
