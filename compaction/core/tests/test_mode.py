"""A mode is proven by headings or unknown: COMPACTION §18 and §15."""

from __future__ import annotations

import time

import pytest

from compaction.core.mode import GOAL_HEADINGS, HANDOFF_HEADINGS, NATIVE_HEADINGS, mode_of, mode_of_text, plain_lines

from .feeds import text

HEADER = "# Handoff\n\n- File: /tmp/h/HANDOFF.md\n- Session: session-1\n- Created: 2026-01-01T00:00:00Z\n\n"


def body(headings):
    return "\n".join(f"## {heading}\n(none)\n" for heading in headings)


@pytest.mark.parametrize(
    ("written", "mode"),
    [
        (body(NATIVE_HEADINGS), "native"),
        (body(GOAL_HEADINGS), "goal"),
        (HEADER + body(HANDOFF_HEADINGS), "handoff"),
        (HEADER.replace("- Created", "- Host: h\n- Created") + body(HANDOFF_HEADINGS), "handoff"),
        (body(HANDOFF_HEADINGS), "goal"),
        (HEADER + body(GOAL_HEADINGS), None),
        (body(NATIVE_HEADINGS[::-1]), None),
        (body(NATIVE_HEADINGS[:-1]), None),
        (body([*NATIVE_HEADINGS, NATIVE_HEADINGS[0]]), None),
        (body(NATIVE_HEADINGS).replace("## ", "### "), None),
        (body(NATIVE_HEADINGS).lower(), None),
        (body(["Extra", *GOAL_HEADINGS]), "goal"),
        ("````\n" + body(NATIVE_HEADINGS) + "````\n", None),
        ("```\n## Critical Context\n```\n" + body(NATIVE_HEADINGS), "native"),
        (body(NATIVE_HEADINGS).replace("\n", "  \r\n"), "native"),
        ("", None),
    ],
)  # fmt: skip
def test_headings_prove_the_mode(written, mode):
    assert mode_of_text(written) == mode


def test_the_summary_is_read_without_preamble_and_tags():
    preamble = body(GOAL_HEADINGS) + "\n<compacted-summary>"
    assert mode_of([text(preamble), text(body(NATIVE_HEADINGS)), text("</compacted-summary>")]) == "native"
    assert mode_of([text(body(NATIVE_HEADINGS[:4])), text(body(NATIVE_HEADINGS[4:]))]) == "native"
    assert mode_of(body(GOAL_HEADINGS)) == "goal"
    assert mode_of(None) is mode_of([{"type": "image"}, 5]) is None


def test_a_fence_ends_with_one_as_long_of_the_same_kind():
    lines = list(plain_lines("a\n~~~~ info\n```\n~~~\n~~~~~\nb\n``` x`y\nc\n```\nd"))
    assert [line for line, fenced in lines if not fenced] == ["a", "b", "``` x`y", "c"]


def test_hostile_text_is_read_in_linear_time():
    began = time.perf_counter()
    for worst in (
        "`" * 1_000_000,
        "   ```\n" * 150_000,
        "## \n" * 250_000,
        " " * 1_000_000,
        "~~~" + " " * 1_000_000 + "x",
    ):
        mode_of_text(worst)
    assert time.perf_counter() - began < 5
