"""Fixtures of COMPACTION §20.1 and the rows of the table in §3, worked out by hand."""

from __future__ import annotations

import pytest

from compaction.core.estimate import (
    Unpriced,
    block_tokens,
    event_tokens,
    message_tokens,
    system_tokens,
    tools_tokens,
)  # fmt: skip
from compaction.core.text import json_units, parse, restringified
from dshweb.text.js import utf16_len as units

from .feeds import call, text


def test_text_is_counted_in_utf16_units():
    assert units("🙂") == 2
    assert units("中") == 1
    assert units("\ud83d") == 1
    assert block_tokens(text("🙂🙂🙂")) == 2 + 4
    assert block_tokens(text("中文")) == 1 + 4
    assert block_tokens({"type": "reasoning", "text": ""}) == 4


def test_a_tool_call_rounds_its_name_and_its_arguments_apart():
    assert block_tokens(call("read5", "{}12345")) == 2 + 2 + 4
    assert block_tokens(call("", "", ident="x" * 400)) == 4


def test_an_image_is_priced_without_the_mark_of_being_offloaded():
    image = {"type": "image", "ref": "a"}
    assert block_tokens(image) == 4 + 7  # {"type":"image","ref":"a"} is 26 units
    assert block_tokens({**image, "offloaded": True}) == block_tokens(image)
    assert block_tokens({"type": "file", "offloaded": True}) > block_tokens({"type": "file"})


def test_numbers_and_keys_are_written_as_javascript_does():
    value = parse(b'{"b":1e100,"10":10.0,"2":-0,"__proto__":[1e-7,123456789012345678901]}')
    written = '{"2":0,"10":10,"b":1e+100,"__proto__":[1e-7,123456789012345680000]}'
    assert json_units(value) == len(written)
    assert restringified(b'{"b":1e100,"10":10.0,"2":-0,"__proto__":[1e-7,123456789012345678901]}') == written


def test_a_lone_surrogate_is_one_unit_as_text_and_six_as_json():
    lone = parse(rb'{"type":"later","x":"\ud83d"}')
    assert units(lone["x"]) == 1
    assert json_units(lone) == len(r'{"type":"later","x":"\ud83d"}')
    assert parse(rb'"\ud83d\ude42"') == "🙂"


def test_a_message_without_content_costs_its_role_but_a_system_one_nothing():
    assert message_tokens([]) == 4
    assert system_tokens([]) == 0
    assert event_tokens("user/message", {"content": []}) == 4
    assert event_tokens("tool/result", {"message": {"content": []}}) == 4
    for kind in ("assistant/message", "system/message", "developer/message"):
        assert event_tokens(kind, {"message": {"content": []}}) == 0


def test_a_system_message_is_rounded_once_over_all_its_blocks():
    assert system_tokens([text("a"), text("b"), {"type": "x"}]) == 4 + (1 + 1 + 12 + 3) // 4
    assert message_tokens([text("a"), text("b")]) == 2 * (1 + 4) + 4


def test_old_formats_pay_four_more_for_the_wrapper_of_a_tool_result():
    inner = [text("12345678")]
    wrapped = [{"type": "tool-result", "toolCallId": "c", "content": inner}]
    assert message_tokens(wrapped, wrapped=True) == message_tokens(inner) + 4
    assert message_tokens(wrapped) == 4 + 4 + -(-json_units(wrapped[0]) // 4)


def test_tools_cost_their_json_and_none_cost_nothing():
    assert tools_tokens(None) == tools_tokens([]) == 0
    assert tools_tokens([{"a": 1}]) == 3 + 4  # [{"a":1}] is 9 units


@pytest.mark.parametrize(
    "content", [None, 7, [{"type": "text"}], [{"type": "tool-call", "name": "n"}], [{"type": "reasoning", "text": 5}]]
)
def test_what_the_harness_could_not_measure_has_no_price(content):
    with pytest.raises(Unpriced):
        message_tokens(content)


@pytest.mark.parametrize("raw", [b"", b"{", b"NaN", b"[1,]", b'"\x01"', b"[" * 200_000])
def test_what_is_no_json_is_refused(raw):
    with pytest.raises(ValueError):
        parse(raw)
