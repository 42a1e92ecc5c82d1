"""The native rules against the engine of the real harness: it refuses exactly the documents that we refuse.

One run of the runtime mounts one engine row per document, each in a group of its own, and reports the rows that did
not start. The runtime comes from PyPI (`pip install deepseek-harness-runtime-bin==0.2.1rc2`).
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from compaction.core.rules_native import refusal
from compaction.core.tests.documents import some_document
from compaction.core.tests.harness import DSH, environment, needs_harness

pytestmark = [pytest.mark.harness, needs_harness]
ENGINE = "@deepseek-ai/dsh-compaction-basic"
FAST = {"retryPolicy": {"mode": "normal", "maxRetries": 0, "backoff": {"initialDelayMs": 10, "maxDelayMs": 20}}}


def refused_by_harness(documents: Sequence[object], folder: Path) -> dict[int, str]:
    """Index → first line of the harness's report, for every document it would not start an engine with."""
    (folder / "work").mkdir()
    rows: list[object] = [{"id": name, "disabled": True} for name in ("compaction-basic", "command-compact")]
    rows.append({"id": "llm-deepseek", "config": FAST})
    for index, document in enumerate(documents):
        probe = {"id": f"probe-{index}", "name": ENGINE, "config": document}
        group = {"id": f"group-{index}", "name": "cordis:group", "group": True, "isolate": {"compaction": True}}
        rows.append({"insert": [group | {"config": [probe]}]})
    (folder / "patch.yml").write_text(json.dumps(rows))
    env = environment(folder, "http://127.0.0.1:9")
    argv = [str(DSH), "--profile", "headless", "--patch", str(folder / "patch.yml"), "--json", "hello"]
    run = subprocess.run(argv, cwd=folder / "work", env=env, capture_output=True, text=True, timeout=120)
    found = re.findall(rf"^probe-(\d+) \({ENGINE}\): (.*(?:\n  - .*)?)", run.stderr, re.MULTILINE)
    announced = re.search(r"(\d+) entr(?:y|ies) did not activate", run.stderr)
    assert (int(announced[1]) if announced else 0) == len(found), run.stderr[:2000]
    return {int(index): line for index, line in found}


def test_the_harness_refuses_exactly_what_we_refuse(tmp_path):
    seed = int(os.environ.get("DSHWEB_TEST_SEED", "4"))
    rng = random.Random(seed)
    documents = [some_document(rng) for _ in range(400)]
    theirs = refused_by_harness(documents, tmp_path)
    ours = {index: problem for index, document in enumerate(documents) if (problem := refusal(document))}
    differ = {index: (documents[index], ours.get(index), theirs.get(index)) for index in set(ours) ^ set(theirs)}
    assert not differ
    assert 40 < len(ours) < 360, "the sample should hold many of both kinds"
    # and for the same reason: the key that we name stands in the harness's own line
    for index, line in theirs.items():
        key = ours[index].key.partition("[")[0]
        assert not key or key.removesuffix("]") in line or ours[index].code == "duplicate-policy", (line, ours[index])
