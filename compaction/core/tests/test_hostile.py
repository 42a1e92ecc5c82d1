"""Logs come from anyone: no row makes the folds raise, and what they cannot know they call unknown."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compaction.core.estimate import BLOCK, MESSAGE
from compaction.core.replay import Replay
from compaction.core.text import tokens
from dshweb.sessionlog.core.events import Event, surface_op
from dshweb.sessionlog.core.surface import SURFACE_TYPES

KINDS = [
    *sorted(SURFACE_TYPES),
    "turn/start", "turn/end", "step/start", "step/end", "request/header", "request/context", "assistant/attempt",
    "compaction/start", "compaction/summary", "compaction/prune", "compaction/end", "agent-preset/selected", "session/end-seed",
]  # fmt: skip
NAMES = st.sampled_from([
    "message", "content", "type", "text", "name", "arguments", "tool-call", "tool-result", "image", "stream", "chunk", "block",
    "index", "texts", "args", "header", "config", "tools", "usage", "inputTokens", "outputTokens", "source", "kind",
    "compactionId", "turn", "step", "reason", "error", "contextWindow", "agentPreset", "block-end", "text-chunks", "finish",
    "compact-checkpoint", "summary", "adapterDefaults", "system",
])  # fmt: skip
values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 2**70) | st.floats(allow_nan=False) | NAMES | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=20,
)
operations = (
    st.none()
    | st.just("append")
    | st.builds(lambda a, b: {"op": "replace", "startSeq": a, "endSeq": b}, st.integers(0, 12), st.integers(0, 12))
)
rows = st.lists(st.tuples(st.sampled_from(KINDS), values, operations), max_size=14)


@given(rows, st.sampled_from([None, 0, 3, 4]))
@settings(max_examples=150, deadline=None)
def test_no_row_makes_the_fold_raise(made, version):
    replay = Replay(lambda told, _: told.select(10))
    replay.meter.version = version
    for seq, (kind, data, op) in enumerate(made):
        raw = msgspec.Raw(json.dumps(data).encode())
        replay.feed(Event(kind, seq, seq, raw, seq, surface_op(op)))
    kept = replay.to_state()
    assert Replay.from_state(json.loads(json.dumps(kept))).to_state() == kept
    found = replay.measure()
    assert (found.total is None) == (found.measurement == "unavailable") == (found.reason is not None)
    prices = [node.tokens for node in replay.nodes()]
    assert replay.meter.surface.tokens == (None if None in prices else sum(prices))
    replay.last_compaction()
    replay.select(0)


@pytest.mark.parametrize("data", [b"[" * 100_000, b"{", b"null", b"7"])
def test_data_that_is_no_message_has_no_price(data):
    replay = Replay()
    replay.feed(Event("user/message", 0, 0, msgspec.Raw(data), 0, "append"))
    assert replay.measure().measurement == "unavailable"


def test_data_too_deep_for_this_interpreter_has_no_price_and_never_another_one():
    """Python 3.13 goes deeper than 3.11."""
    deep = 5000
    replay = Replay()
    replay.feed(
        Event("user/message", 0, 0, msgspec.Raw(b'{"content":' + b"[" * deep + b"]" * deep + b"}"), 0, "append")
    )
    found = replay.measure()
    assert found.total in (None, tokens(2 * (deep - 1)) + BLOCK + MESSAGE)
    assert (found.total is None) == (found.measurement == "unavailable")


def test_a_wrapper_in_a_wrapper_without_end_has_no_price():
    inner = '{"type":"tool-result","content":['
    raw = '{"message":{"content":[' + inner * 800 + "]}" * 800 + "]}}"
    replay = Replay()
    replay.meter.version = 3
    replay.feed(Event("tool/result", 0, 0, msgspec.Raw(raw.encode()), 0, "append"))
    assert replay.measure().total is None or replay.measure().total > 800 * 4


def test_tools_nested_without_end_are_a_header_that_cannot_be_read():
    raw = b'{"header":{"config":{},"tools":' + b"[" * 50_000 + b"]" * 50_000 + b"}}"
    replay = Replay()
    replay.feed(Event("request/header", 3, 0, msgspec.Raw(raw), 0))
    assert replay.measure().reason == "3: a request header that cannot be read"
