"""The shrink check at its border (COMPACTION §20.7), and against the attempts that the harness accepted and rejected."""

from __future__ import annotations

import re

import pytest

from compaction.core.estimate import FRAMING, message_tokens
from compaction.core.shrink import OPENING, framed, shrinks

from .feeds import text
from .recorded import LOGS, tell

REJECTED = re.compile(r"not smaller than the shadowed content \((\d+) estimated framed tokens >= (\d+)\)")


def test_equal_is_rejected_and_one_token_less_is_accepted():
    summary = [text("x" * 40)]
    price = message_tokens(framed(summary, "preamble"))
    assert not shrinks(summary, "preamble", price).accepted
    assert shrinks(summary, "preamble", price).error == (
        f"summary is not smaller than the shadowed content ({price} estimated framed tokens >= {price})"
    )
    assert shrinks(summary, "preamble", price + 1).accepted
    assert shrinks(summary, "preamble", price + 1).error is None


def test_the_native_frame_alone_costs_what_was_seen():
    assert message_tokens(framed([], "p" * 300)) == FRAMING


@pytest.mark.parametrize(("scenario", "path"), LOGS)
def test_the_harness_judged_the_same(scenario, path):
    told = tell(scenario, path)
    by_seq = {e.seq: e for e in told.events}
    for attempt in told.summaries:
        summary, checkpoint = by_seq[attempt.seq].body["summary"], by_seq[attempt.seq + 1].body["content"]
        preamble = checkpoint[0]["text"].removesuffix(OPENING)
        assert framed(summary, preamble) == checkpoint
        assert shrinks(summary, preamble, attempt.computed[3]).accepted
    begun = None
    for event in told.events:
        if event.type == "compaction/start":
            begun = told.ranges[event.seq]
        elif event.type == "compaction/end" and (match := REJECTED.search(event.body.get("error", ""))):
            assert begun.range.tokens == int(match[2])
            assert int(match[1]) >= int(match[2])
