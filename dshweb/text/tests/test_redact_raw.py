"""The look at JSON text as it stands: it may say "look closer" too often, never too seldom."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dshweb.text import redact, redact_raw
from dshweb.text.redact import Masker, Pattern

from . import rows

MASKER = Masker()
KEY = "sk-proj-EXAMPLE0000EXAMPLE0000EXAMPLE0000"
SECRETS = [row.text for row in rows.must_mask()]


def _dumped(value: object) -> list[bytes]:
    """The same value as writers may write it."""
    spaced = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return [spaced, json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"),
            json.dumps(value).encode(), spaced.replace(b"/", b"\\/")]  # fmt: skip


def test_every_secret_is_seen_in_json_text() -> None:
    for text in SECRETS:
        for nested in (text, json.dumps({"command": text}), json.dumps(json.dumps(text, ensure_ascii=False))):
            value = {"role": "user", "content": [{"type": "text", "text": nested}]}
            if MASKER.mask_json(value) != value:
                assert not any(map(MASKER.passes_json, _dumped(value))), text


@pytest.mark.parametrize(
    "value",
    [
        {"password": "abcd"}, {"dbPassword": "EXAMPLE1"}, {"API_KEY2": "EXAMPLE0000"}, {"token٣": KEY[3:]}, {"数据库密码": "示例Abc12345"},
        {"env": [{"name": "DB_PASSWORD", "value": "EXAMPLE1"}]}, {"args": ["run", "--password", "EXAMPLE1"]},
        [{"chunk": {"type": "text-delta", "text": piece}} for piece in ("AKIAIOSFOD", "NN7EXAMPLE")],
        {"dt": [1], "type": "text-chunks", "texts": ["AKIAIOSFOD", "NN7EXAMPLE"]}, {"a": "x\nAKIAIOSFODNN7EXAMPLE"},
        {"a": "C:\\nAKIAIOSFODNN7EXAMPLE"}, {"a": "\bAKIAIOSFODNN7EXAMPLE"},
    ],
)  # fmt: skip
def test_names_flags_and_split_pieces_are_seen(value: object) -> None:
    assert MASKER.mask_json(value) != value
    assert not any(map(MASKER.passes_json, _dumped(value)))


@pytest.mark.parametrize(
    "text", ["plain", "two\nlines", 'said "yes"', "C:\\new\\table", "tab\there", "中文,路径 /srv/a.py"]
)
def test_text_without_secrets_passes(text: str) -> None:
    assert MASKER.passes_json(json.dumps({"type": "text", "text": text}, ensure_ascii=False).encode())


@pytest.mark.parametrize("text", ["a\nb", "a\\nb", "a\\\nb", '\\"', '\\\\"', "\\", "\\\\\t\\t", "a/b\r"])
def test_escapes_are_undone_from_the_left(text: str) -> None:
    assert redact_raw.unescaped(json.dumps(text).encode()) == f'"{text}"'.encode()


@pytest.mark.parametrize("raw", [b'"\\u0061"', b'"\\b"', b'"\\f"', b'"\\\\\\u0061"', b'"\\\\\0"'])
def test_other_escapes_are_left_to_the_exact_look(raw: bytes) -> None:
    assert redact_raw.unescaped(raw) is None
    assert not MASKER.passes_json(raw)


def test_a_teams_patterns_are_left_to_the_exact_look() -> None:
    assert not Masker([Pattern("ticket", "TICKET-[0-9]{4}")]).passes_json(b'{"text":"nothing"}')


def test_no_pattern_of_the_first_look_has_an_edge() -> None:
    """With an edge a string might match alone, but not where it stands between quotes."""
    for expression in redact._LOOKS:
        for edge in ("\\b", "\\B", "(?m", "\\A"):
            assert edge not in expression
        assert "^" not in expression.replace("[^", "")
        assert "$" not in expression.replace("[$", "")


_piece = st.one_of(
    st.sampled_from(SECRETS),
    st.text(max_size=12),
    st.sampled_from(["\\", '"', "\n", "\\n", '\\"', "/", "--key", "\x00"]),
)
_text = st.lists(_piece, max_size=4).map("".join)
_names = st.one_of(
    st.sampled_from(["text", "type", "value", "name", "apiKey", "password", "token1", "dt", "texts", "args"]), _text
)
_values: st.SearchStrategy[Any] = st.recursive(
    st.one_of(_text, st.none(), st.integers()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_names, inner, max_size=3),
    max_leaves=6,
)


@given(_values)
def test_what_passes_is_left_as_it_is(value: object) -> None:
    for raw in _dumped(value):
        if MASKER.passes_json(raw):
            assert MASKER.mask_json(value) == value
