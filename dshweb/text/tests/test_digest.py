"""Digests and JavaScript text forms, against values Node gave."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dshweb.text import digest, js


def test_published_digests() -> None:
    assert digest.text_digest("") == digest.EMPTY
    assert digest.tools_digest(None) == "sha256:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"
    assert digest.variables_digest({}) == "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


def test_message_text_joins_text_blocks_with_nothing() -> None:
    content = [
        {"type": "text", "text": "a"},
        {"type": "reasoning", "text": "r"},
        {"type": "text", "text": "😀"},
        {"type": "text"},
    ]
    assert digest.message_text(content) == "a😀"
    assert digest.message_digest(content) == digest.of_text("a😀")
    assert digest.message_digest(content).chars == 3
    assert [b.chars for b in digest.block_digests(content)] == [1, 2]
    assert digest.message_digest([{"type": "tool-call", "name": "x"}]).digest == digest.EMPTY


def test_lone_surrogate_is_digested_as_replacement_character() -> None:
    assert digest.text_digest("a\ud800b") == digest.text_digest("a\ufffdb")
    assert digest.text_digest("\ud83d\ude00") == digest.text_digest("😀")


def test_variables_keep_their_order_and_drop_what_is_absent() -> None:
    assert digest.variables_digest({"maxTokens": 8, "temperature": 1.0, "other": 1}) == digest.text_digest(
        '{"temperature":1,"maxTokens":8}'
    )


def test_source_description() -> None:
    source = {"kind": "user", "rpcId": "r", "provider": 3, "model": "m"}
    assert digest.describe_source(source) == {"kind": "user", "model": "m", "fields": digest.json_digest(source)}
    assert digest.describe_source(None) == {"kind": "absent"}
    assert digest.describe_source([])["kind"] == "unknown"


@pytest.mark.parametrize(
    ("text", "node"),
    [
        (
            "[0,-0.0,10.0,1e21,1e20,1e-7,0.000001,1.5e-7,5e-324]",
            "[0,0,10,1e+21,100000000000000000000,1e-7,0.000001,1.5e-7,5e-324]",
        ),
        (
            "[12345678901234567890,9007199254740993,1e400,123.456]",
            "[12345678901234567000,9007199254740992,null,123.456]",
        ),
        ('{"b":1,"10":2,"2":3,"01":4,"4294967295":5}', '{"2":3,"10":2,"b":1,"01":4,"4294967295":5}'),
        (r'["\ud800x","\ud83d\ude00","\u2028","\u0007\u001f\n"]', '["\\ud800x","😀","\u2028","\\u0007\\u001f\\n"]'),
    ],
)
def test_stringify_as_node(text: str, node: str) -> None:
    assert js.stringify(json.loads(text)) == node


def test_stringify_refuses_what_json_cannot_hold() -> None:
    with pytest.raises(TypeError):
        js.stringify({"a": {1, 2}})
    assert digest.json_digest(object()) == digest.EMPTY


def test_stringify_does_not_mind_depth() -> None:
    value: object = 1
    for _ in range(20_000):
        value = [value]
    assert js.stringify(value) == "[" * 20_000 + "1" + "]" * 20_000


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_read_back_the_same(value: float) -> None:
    assert float(js.number(value)) == value


@given(st.text())
def test_utf16_length(text: str) -> None:
    assert js.utf16_len(text) == len(text.encode("utf-16-le", "surrogatepass")) // 2
