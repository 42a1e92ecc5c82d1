"""Masking in JSON values, in tool arguments, and in text split over stream records and rows."""

from __future__ import annotations

import copy
import json

import pytest

from dshweb.text.redact import Masker

from . import rows

MASKER = Masker()
KEY = "sk-proj-EXAMPLE0000EXAMPLE0000EXAMPLE0000"


def test_tool_call_and_result_are_masked() -> None:
    for line in rows.field("tool-io.v4.jsonl"):
        masked = json.dumps(MASKER.mask_json(json.loads(line)), ensure_ascii=False)
        for secret in (KEY, "EXAMPLEKEY00000000000", "EXAMPLEpass", "AKIAIOSFODNN7EXAMPLE", "xoxb-0000000000"):
            assert secret not in masked
        assert json.loads(masked)["type"] == json.loads(line)["type"]


@pytest.mark.parametrize(
    ("value", "masked"),
    [
        ({"password": "abcd"}, {"password": "[redacted:assignment]"}),
        ({"dbPassword": "EXAMPLE1"}, {"dbPassword": "[redacted:assignment]"}),
        ({"apiKey": "EXAMPLE0000"}, {"apiKey": "[redacted:assignment]"}),
        ({"密码": "示例Abc12345"}, {"密码": "[redacted:assignment]"}),
        ({"token": KEY}, {"token": "[redacted:openai-like]"}),
        ({"headers": {"Authorization": f"Bearer {KEY}"}}, {"headers": {"Authorization": "Bearer [redacted:openai-like]"}}),
        ({"env": [{"name": "DB_PASSWORD", "value": "EXAMPLE1"}]},
         {"env": [{"name": "DB_PASSWORD", "value": "[redacted:assignment]"}]}),
        ({"args": ["run", "--password", "EXAMPLE1"]}, {"args": ["run", "--password", "[redacted:assignment]"]}),
        ({KEY: 1}, {"[redacted:openai-like]": 1}),
    ],
)  # fmt: skip
def test_member_is_masked(value: object, masked: object) -> None:
    assert MASKER.mask_json(value) == masked


@pytest.mark.parametrize(
    "value",
    [
        {"password": {"type": "string"}}, {"password": "string"}, {"token": 12000}, {"maxTokens": 3000}, {"key": "Enter"},
        {"key": "session-00000000-0000-4000-8000-000000000001"}, {"password": ""}, {"password": None}, {"token": "${TOKEN}"},
        {"password": "********"}, {"policyKey": '["deepseek-official","deepseek-chat0000000000"]'}, {"key": "name", "value": "x"},
        {"args": ["--token", "$TOKEN"]}, {"name": "read", "arguments": '{"path": "src/app.py"}'}, [], "", 1.5, True,
    ],
)  # fmt: skip
def test_value_that_is_no_secret_stays(value: object) -> None:
    assert MASKER.mask_json(value) == value


def test_the_given_value_is_not_changed() -> None:
    value = {"a": [{"password": "EXAMPLE1", "dt": [], "texts": [KEY[:9], KEY[9:]]}], "b": KEY}
    before = copy.deepcopy(value)
    assert MASKER.mask_json(value) != value
    assert value == before


def test_two_masked_names_stay_two_members() -> None:
    assert len(MASKER.mask_json({KEY: 1, KEY + "1": 2})) == 2


def test_packed_stream_pieces_are_masked_joined() -> None:
    stream = [
        {"type": "chunk", "time": 1, "chunk": {"type": "block-start", "index": 0, "blockType": "text"}},
        {"type": "text-chunks", "time0": 1, "index": 0, "dt": [1], "texts": ["key sk-proj-EXAM", "PLE0000EXAMPLE"]},
        {
            "type": "tool-call-chunks",
            "time0": 1,
            "index": 1,
            "dt": [],
            "id": "c",
            "args": ['{"key": "EXAMPLE', 'KEY00000000000"}'],
        },
        {"type": "chunk", "time": 2, "chunk": {"type": "text-delta", "index": 0, "text": "0000EXAMPLE0000 done"}},
    ]
    masked = MASKER.mask_json({"data": {"stream": stream}})["data"]["stream"]
    assert masked[1]["texts"] == ["key [redacted:openai-like]", ""]
    assert masked[3]["chunk"]["text"] == " done"
    assert masked[2]["args"] == ['{"key": "[redacted:assignment]', '"}']
    assert masked[0] == stream[0]


def test_key_split_over_rows_of_an_old_log_is_masked() -> None:
    def delta(seq: int, text: str) -> dict[str, object]:
        chunk = {"type": "text-delta", "index": 1, "text": text}
        return {"type": "assistant/chunk", "seq": seq, "time": seq, "data": {"turn": 1, "step": 1, "chunk": chunk}}

    packed = {
        "type": "text-chunks",
        "seq0": 3,
        "time0": 3,
        "data": {"turn": 1, "step": 1, "index": 1, "dt": [1, 1], "texts": ["0000EX", "AMPLE00", "00!"]},
    }
    log = [delta(1, "use sk-proj-EXA"), {"type": "step/start", "seq": 2}, delta(2, "MPLE0000EXAMPLE"), packed]
    masked = MASKER.mask_runs(log)
    assert masked[0]["data"]["chunk"]["text"] == "use [redacted:openai-like]"
    assert masked[2]["data"]["chunk"]["text"] == ""
    assert masked[3]["data"]["texts"] == ["", "", "!"]
    assert masked[1] is log[1]
    assert log[3]["data"]["texts"][0] == "0000EX"


def test_blocks_of_different_steps_are_not_joined() -> None:
    row = {"type": "text-chunks", "data": {"turn": 1, "step": 1, "index": 0, "dt": [], "texts": ["sk-proj-EXAMPLE"]}}
    other = {"type": "text-chunks", "data": {"turn": 1, "step": 2, "index": 0, "dt": [], "texts": ["0000EXAMPLE0000"]}}
    assert MASKER.mask_runs([row, other]) == [row, other]


@pytest.mark.parametrize("wrap", [lambda v: [v], lambda v: {"a": v}])
def test_deep_values_do_not_crash(wrap: object) -> None:
    value: object = KEY
    for _ in range(10_000):
        value = wrap(value)  # type: ignore[operator]
    masked = MASKER.mask_json(value)
    for _ in range(10_000):
        masked = masked[0] if isinstance(masked, list) else masked["a"]
    assert masked == "[redacted:openai-like]"
