"""The anchor and its rules (COMPACTION §5, fixtures §20.2 and 3), on sessions small enough to add up by hand."""

from __future__ import annotations

import io

import msgspec
import pytest

from compaction.core.estimate import tools_tokens
from compaction.core.header_key import read_header
from compaction.core.measure import REPAIRED
from compaction.core.replay import Replay
from dshweb.sessionlog.core.reader import read_log
from dshweb.sessionlog.tests.core.logs import line

from .feeds import TOOLS, Session, call, opened, text

PREFIX = tools_tokens(TOOLS)


def started(**request):
    session = opened()
    session.system(text("s" * 40))  # 14
    session.user(text("u" * 40))  # 18
    if request.get("header", True):
        session.request(**{k: v for k, v in request.items() if k != "header"})
    return session


def usage(total, output=10):
    return {"inputTokens": total - output, "outputTokens": output}


def test_an_empty_session_has_no_baseline():
    found = Session().replay().measure()
    assert (found.baseline, found.total, found.measurement) == ("none", 0, "estimated")


def test_without_an_answer_everything_is_estimated():
    found = started().replay().measure()
    assert (found.baseline, found.total, found.delta) == ("estimated", PREFIX + 32, 0)
    assert (found.surface_tokens, found.prefix_tokens) == (32, PREFIX)


def test_usage_counts_when_it_is_at_least_the_estimate():
    exact = PREFIX + 32 + 18
    for counted, kind in ((exact - 1, "estimated"), (exact, "usage"), (exact + 500, "usage")):
        session = started()
        session.answer(text("a" * 40), usage=usage(counted), stream=[_ended(text("a" * 40))])
        found = session.replay().measure()
        assert (found.baseline, found.total) == (kind, max(counted, exact))
        assert found.measurement == ("measured" if kind == "usage" else "estimated")


def test_cache_tokens_count_and_reasoning_tokens_do_not_count_twice():
    session = started()
    counts = {
        "inputTokens": 700,
        "cacheReadTokens": 200,
        "cacheWriteTokens": 50,
        "outputTokens": 40,
        "reasoningTokens": 39,
    }
    session.answer(text("a"), usage=counts, stream=[_ended(text("a"))])
    assert session.replay().measure().total == 990


def test_what_comes_after_the_answer_is_added_by_the_heuristic():
    session = started()
    session.answer(text("a" * 40), usage=usage(1000), stream=[_ended(text("a" * 40))])
    session.user(text("v" * 400))
    found = session.replay().measure()
    assert (found.baseline, found.baseline_tokens, found.delta, found.total) == ("usage", 1000, 108, 1108)


def test_the_anchor_goes_by_the_stream_where_the_message_differs():
    session = started()
    session.answer(text("a" * 40), usage=usage(1000), stream=[_ended(text("a" * 400))])  # 108 streamed, 18 kept
    assert session.replay().measure().delta == 18 - 108
    session = started()
    session.answer(text("a" * 40), usage=usage(1000), stream=[])
    assert session.replay().measure().delta == 18


def test_another_header_drops_the_anchor_and_an_equal_one_keeps_it():
    for request, kind in (({}, "usage"), ({"temperature": 0.1}, "estimated"), ({"model": "n"}, "estimated"),
                          ({"tools": [*TOOLS, {"name": "x"}]}, "estimated"), ({"thinking": True}, "usage")):  # fmt: skip
        session = started()
        session.answer(text("a"), usage=usage(1000), stream=[_ended(text("a"))])
        session.request(**request)
        assert session.replay().measure().baseline == kind, request


def test_the_order_of_tools_matters_and_that_of_their_spelling_does_not():
    two = [*TOOLS, {"name": "x", "n": 1.0}]
    for again, kind in ((two, "usage"), (two[::-1], "estimated"), ([*TOOLS, {"name": "x", "n": 1}], "usage")):
        session = started(tools=two)
        session.answer(text("a"), usage=usage(1000), stream=[_ended(text("a"))])
        session.request(tools=again)
        assert session.replay().measure().baseline == kind


def test_a_log_without_header_is_estimated_even_with_usage():
    session = started(header=False)
    session.answer(text("a" * 40), usage=usage(1000), stream=[_ended(text("a" * 40))])
    session.user(text(""))
    found = session.replay().measure()
    assert (found.baseline, found.baseline_tokens, found.total) == ("estimated", 50, 58)


def test_an_attempt_leaves_the_anchor_and_samples_its_usage():
    session = started()
    session.answer(text("a"), usage=usage(1000), stream=[_ended(text("a"))])
    session.row("assistant/attempt", {"stream": [{"type": "chunk", "chunk": {"type": "usage", "usage": usage(5000)}}]})
    replay = session.replay()
    assert replay.measure().total == 1000
    assert replay.meter.occupancy.pressure_tokens == 4990


def test_a_stream_longer_than_its_message_cancels_out_of_an_estimate():
    session = started()
    session.answer(text("a"), usage=usage(1000), stream=[_ended(text("a" * 9000))])
    found = session.replay().measure()
    assert (found.baseline, found.delta) == ("estimated", 9 - 2258)
    assert found.total == PREFIX + 32 + 9


def test_an_answer_outside_its_step_makes_the_measurement_unavailable():
    session = started()
    session.close()
    session.answer(text("a"))
    found = session.replay().measure()
    assert (found.total, found.measurement, found.surface_tokens) == (None, "unavailable", None)
    assert "outside its own step" in found.reason


@pytest.mark.parametrize(
    "op", [{"op": "replace", "startSeq": 99, "endSeq": 2}, {"op": "replace", "startSeq": 3, "endSeq": 2}]
)
def test_a_replacement_of_what_is_not_there_makes_it_unavailable(op):
    session = started()
    session.user(text("x"), op=op)
    found = session.replay().measure()
    assert (found.total, found.measurement) == (None, "unavailable")


def test_a_block_without_price_makes_it_unavailable_and_says_where():
    session = started()
    seq = session.user({"type": "text"})
    found = session.replay().measure()
    assert found.total is None
    assert found.reason == f"{seq}: text block without text"


def test_attachments_are_said_to_be_priced_by_their_structure():
    session = started()
    session.user({"type": "image", "ref": "r"})
    assert session.replay().measure().diagnostics == ("attachments priced structurally",)


def test_broken_text_is_said_to_be_approximate_only_where_its_json_is_measured():
    for block, notes in ((text("@@"), ()), ({"type": "later", "x": "@@"}, (REPAIRED,))):
        session = started()
        session.user(block)
        data = b"".join(line(row) for row in [session.header, *session.rows]).replace(b"@@", rb"\ud83d")
        replay = Replay()
        for batch in read_log(io.BytesIO(data)):
            for event in batch.events:
                replay.feed(event)
        assert replay.measure().diagnostics == notes
        assert Replay.from_state(replay.to_state()).measure().diagnostics == notes


def test_fixed_tokens_are_the_tools_and_the_system_prompt_in_front():
    session = started()
    session.system(text("later" * 100))
    meter = session.replay().meter
    assert (meter.tools_tokens, meter.system_tokens, meter.fixed_tokens) == (PREFIX, 14, PREFIX + 14)
    assert Session().replay().meter.fixed_tokens is None


def test_up_to_v2_the_system_prompt_stands_in_the_header():
    session = opened(version=0)
    session.row(
        "request/header", {"header": {"config": {"provider": "p", "model": "m"}, "system": "s" * 40, "tools": TOOLS}}
    )
    meter = session.replay().meter
    assert (meter.system_tokens, meter.fixed_tokens) == (14, PREFIX + 14)
    assert meter.measure().total == PREFIX + 14


def test_surrogates_in_a_tool_declaration_are_priced_as_node_writes_them():
    raw = rb'{"header":{"config":{"model":"m"},"tools":[{"name":"\ud83d"}]}}'
    found = read_header(1, msgspec.Raw(raw), None)
    assert found.tools_tokens == 4 + -(-len(r'[{"name":"\ud83d"}]') // 4)
    assert (found.provider, found.model, found.max_tokens) == (None, "m", None)


def test_unfinished_calls_leave_the_streamed_price_without_their_block_end():
    session = started()
    records = [
        {"type": "reasoning-chunks", "index": 0, "texts": ["think", "ing"]},
        {"type": "tool-call-chunks", "index": 1, "id": "c", "name": "read", "args": ['{"a', '":1}']},
    ]
    session.answer(call(), usage=usage(1000), stream=records)
    streamed = (2 + 4) + (1 + 2 + 4) + 4
    assert session.replay().measure().delta == (1 + 1 + 4 + 4) - streamed
    capped = [*records, {"type": "chunk", "chunk": {"type": "finish", "reason": {"kind": "max-tokens"}}}]
    session = started()
    session.answer(text(""), usage=usage(1000), stream=capped)
    assert session.replay().measure().delta == 8 - ((2 + 4) + 4)


def _ended(block):
    return {"type": "chunk", "chunk": {"type": "block-end", "index": 0, "block": block}}
