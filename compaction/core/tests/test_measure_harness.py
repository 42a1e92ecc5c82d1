"""The real harness, run with five kinds of settings, compacts and prunes exactly where the arithmetic says (issue 4, 2).

Needs the runtime from PyPI (`pip install deepseek-harness-runtime-bin==0.2.1rc2`); the model is the scripted provider of
`tests/harness`. Threshold and retained tail come from our own policy and formula, the rest from the replayed log.
"""

from __future__ import annotations

import pytest

from compaction.core.formula import Spec, reserve, spec
from compaction.core.policy import resolve
from compaction.core.replay import Replay
from compaction.core.select import prunable

from .harness import MODEL, PROVIDER, needs_harness, run
from .recorded import events_of

pytestmark = [pytest.mark.harness, needs_harness]

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


def script() -> list[dict]:
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
    return [*steps, {"kind": "chat", "text": "Done."}]


@pytest.mark.parametrize("name", RUNS)
def test_it_compacts_exactly_where_the_arithmetic_says(name, tmp_path):
    settings, winner, pruner = RUNS[name]
    log = run(tmp_path, settings, script(), pruner=pruner, task="Read the pieces.")
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
