"""The real harness, run with five kinds of settings, compacts and prunes exactly where the arithmetic says (issue 4, 2).

Needs the runtime from PyPI (`pip install deepseek-harness-runtime-bin==0.2.1rc2`); the model is the scripted provider of
`tests/harness`. Threshold and retained tail come from our own policy and formula, the rest from the replayed log.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from compaction.core.formula import Spec, reserve, spec
from compaction.core.policy import resolve
from compaction.core.replay import Replay
from compaction.core.select import prunable
from tests.harness.fake_provider import FakeProvider

from .recorded import events_of

DSH = shutil.which("dsh") or shutil.which("dsh", path=str(Path(sys.executable).parent))
pytestmark = [
    pytest.mark.harness,
    pytest.mark.skipif(DSH is None, reason="the real harness (deepseek-harness-runtime-bin) is not installed"),
]

PROVIDER, MODEL, WINDOW, RESERVE = "deepseek-official", "deepseek-flash", 24_000, 2000
SUMMARY = "## Primary Request and Intent\n- Read the pieces.\n## Next Step\n- Read on."
RUNS = {
    "ratio wins": ({"thresholdRatio": 0.5, "headroomTokens": 1000, "maxTokens": 3000}, "ratio", False),
    "headroom wins": ({"headroomTokens": 11000, "maxTokens": 3000, "retainRatio": 0.05}, "headroom", True),
    "retained tokens": ({"thresholdRatio": 0.55, "headroomTokens": 500, "maxTokens": 3000, "retainTokens": 4200}, "ratio", False),
    "model policy": (
        {"thresholdRatio": 0.9, "headroomTokens": 1000, "maxTokens": 3000, "modelPolicies": [
            {"provider": PROVIDER, "model": "other", "thresholdRatio": 0.3, "retainTokens": 1},
            {"provider": PROVIDER, "model": MODEL, "thresholdRatio": 0.45, "retainTokens": 900},
        ]}, "ratio", False,
    ),
    "no headroom": ({"thresholdRatio": 0.45, "headroomTokens": 0, "maxTokens": 2500, "retainTokens": 2000}, "ratio", True),
}  # fmt: skip
PIECES = (
    "plain words of a report",
    "一份关于队列的中文报告",
    '🙂🙃 emoji and \\"quotes\\"',
    "tab\\tand \\\\ backslash",
)


def patch(settings: dict, *, pruner: bool) -> list[dict]:
    model = {"id": MODEL, "name": "Fake", "contextWindow": WINDOW, "systemPromptUpdate": "in-history",
             "toolUpdate": "addition-only"}  # fmt: skip
    return [
        {"id": "compaction-basic", "config": settings},
        {"id": "tool-result-pruner", "disabled": not pruner},
        {"id": "llm-deepseek", "config": {"defaultContextWindow": WINDOW, "maxTokens": RESERVE, "models": [model],
                                          "retryPolicy": {"mode": "normal", "maxRetries": 1}}},
    ]  # fmt: skip


def script() -> dict:
    steps = []
    for n in range(10):
        lines = 450 if n in (4, 7) else 60 + 25 * (n % 4)  # the long ones are above the pruner's threshold
        command = f'for i in $(seq 1 {lines}); do printf \'%s {n} %s\\n\' "$i" "{PIECES[n % 4]}"; done'
        step = {"kind": "chat", "text": f"Piece {n}. 好的 🙂", "tool_calls": [
            {"name": "bash", "arguments": {"description": f"Print piece {n}", "command": command}}]}  # fmt: skip
        if n % 5 == 2:  # more than the heuristic says
            step["usage"] = {"input": 9000, "output": 60, "cache_read": 3000 + 100 * n, "cache_write": 10}
        if n % 5 == 3:  # less than it says: the harness estimates
            step["usage"] = {"input": 10, "output": 5}
        steps.append(step)
    return {"steps": [*steps, {"kind": "chat", "text": "Done."}], "fallback": {"compaction": {"text": SUMMARY}}}


def run(folder: Path, settings: dict, *, pruner: bool) -> Path:
    """One headless run; its log."""
    work = folder / "work"
    work.mkdir()
    (folder / "patch.yml").write_text(json.dumps(patch(settings, pruner=pruner)))
    with FakeProvider(script()) as fake:
        env = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8", "DSH_HOME": str(folder / "dsh"),
               "DSH_TELEMETRY_MODE": "DISABLED", "DEEPSEEK_BASE_URL": fake.base_url, "DEEPSEEK_API_KEY": "fake-key",
               "DSH_PERMISSION_MODE": "danger-full-access"}  # fmt: skip
        argv = [str(DSH), "--profile", "headless", "--patch", str(folder / "patch.yml"), "--json", "Read the pieces."]
        done = subprocess.run(argv, cwd=work, env=env, capture_output=True, text=True, timeout=120)
    logs = list((folder / "dsh").glob("sessions/*/*/session.v4.jsonl.zstd"))
    assert logs, done.stderr[-2000:]
    return logs[0]


@pytest.mark.parametrize("name", RUNS)
def test_it_compacts_exactly_where_the_arithmetic_says(name, tmp_path):
    settings, winner, pruner = RUNS[name]
    log = run(tmp_path, settings, pruner=pruner)
    policy = resolve(settings).for_route(PROVIDER, MODEL)
    header, events = events_of(log)
    looks = []  # each with whether there was anything to prune or to compact

    def limits() -> Spec:
        header = replay.meter.header
        found = spec(policy, replay.meter.window, reserve(header.max_tokens, None, adapter_known=True))
        assert isinstance(found, Spec), found
        return found

    def look(replay, check):
        possible = replay.select(limits().retain).range is not None or (pruner and prunable(replay.meter.surface))
        looks.append((check, check.measure.total >= limits().threshold, bool(possible)))

    replay = Replay(look)
    replay.start(header)
    compacted = pruned = 0
    for event in events:
        if event.type in ("compaction/summary", "compaction/prune"):
            body = event.body
            stated = (body["shadowedRange"], body["shadowedSeqs"], body["shadowedTokenCount"])
            if event.type == "compaction/prune":
                node = prunable(replay.meter.surface)[0]
                pruned += 1
                assert stated == ({"start": node.seq, "end": node.seq}, [node.seq], node.tokens)
            else:
                found = replay.select(limits().retain).range
                compacted += 1
                assert stated == ({"start": found.start, "end": found.end}, list(found.seqs), found.tokens)
        replay.feed(event)
    assert replay.measure().reason is None
    assert limits().winner == winner
    for check, over, possible in looks:
        assert check.fired == (over and possible) if not check.again else over or not check.fired, check
    totals = [(check.seq, check.measure.total, check.fired) for check, _, _ in looks]
    assert compacted, totals
    assert bool(pruned) == pruner, totals
    assert {over for _, over, _ in looks} == {True, False}, totals
    assert {check.measure.baseline for check, _, _ in looks} == {"usage", "estimated"}
