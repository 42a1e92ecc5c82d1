"""Patch files against the real harness: it composes from our export exactly the settings that we put in.

`dsh --dump-config` prints the composed rows without starting anything. The runtime comes from PyPI
(`pip install deepseek-harness-runtime-bin==0.2.1rc2`).
"""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from compaction.core.document import same
from compaction.core.patch_export import write_patch
from compaction.core.patch_rows import native_part
from compaction.core.patch_scalars import Expression
from compaction.core.patch_yaml import compose, value_of
from compaction.core.rules_form import problems
from compaction.core.tests.documents import some_document
from compaction.core.tests.harness import DSH, environment, needs_harness

pytestmark = [pytest.mark.harness, needs_harness]
BEFORE = """\
# before
- id: llm-deepseek
  config:
    baseURL: !!js "process.env.X"   # foreign
- id: compaction-basic
  config:
    # ours
    thresholdRatio: .5 # old
    retainRatio: 0.1
    modelPolicies:
      - provider: old
        model: old
# after
- insert:
    - {id: tail, name: x, disabled: true, config: {a: [1, 'b']}}
"""
WORDS = (
    "yes", "0o17", "017", "0x1F", "-0b11", "1e3", ".5", "1.", "1_000", "1e400", "+12", "~", "NULL", "TRUE", "off", "2026-01-01", "<<",
    "0b2", "0o8", "1e-7", "'1'", '"\\u00e9"', "a b", "12345678901234567890", "-0", "0.1e1", "null", "False", "nUll", "=", "1:30",
)  # fmt: skip


def composed(patch: str, folder: Path) -> dict[str, object]:
    """Row id → config, as the harness composes it from its bundles and this profile patch."""
    profile = folder / "dsh" / "profiles" / "headless"
    env = environment(folder)
    argv = [str(DSH), "headless", "--dump-config"]
    if not profile.exists():
        subprocess.run(argv, env=env, capture_output=True, check=True, timeout=60, cwd=folder)
    (profile / "cordis.patch.yml").write_text(patch)
    run = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=60, cwd=folder)
    assert run.returncode == 0, run.stderr[:1000]
    assert "patch:" not in run.stderr, run.stderr[:1000]
    rows = value_of(compose(run.stdout), run.stdout)
    return {row["id"]: row.get("config") for row in rows}


def test_the_harness_composes_what_we_wrote(tmp_path):
    rng = random.Random(int(os.environ.get("DSHWEB_TEST_SEED", "4")))
    documents = [{}]
    while len(documents) < 12:
        document = some_document(rng)
        if isinstance(document, dict) and not problems(document):
            documents.append(native_part(document))
    untouched = composed(BEFORE, tmp_path)
    text = BEFORE
    for document in documents:
        text = write_patch(text, document, "compaction-basic").text
        rows = composed(text, tmp_path)
        got = rows.pop("compaction-basic")
        assert same(got, document), (text, got, document)
        assert rows == {key: value for key, value in untouched.items() if key != "compaction-basic"}
    assert "# before" in text
    assert "# foreign" in text
    assert "# after" in text


def test_scalars_mean_to_us_what_they_mean_to_the_harness(tmp_path):
    lines = "".join(f"        k{index}: {word}\n" for index, word in enumerate(WORDS))
    patch = f"- insert:\n    - id: words\n      name: x\n      disabled: true\n      config:\n{lines}        e: !!js 1 + 1\n"
    theirs = composed(patch, tmp_path)["words"]
    ours = value_of(compose(patch), patch)[0]["insert"][0]["config"]
    differ = {
        WORDS[int(key[1:])]: (value, theirs[key])
        for key, value in ours.items()
        if key != "e" and not (same(value, theirs[key]) and isinstance(value, str) == isinstance(theirs[key], str))
    }
    assert not differ
    assert theirs["e"] == ours["e"] == Expression("1 + 1")
