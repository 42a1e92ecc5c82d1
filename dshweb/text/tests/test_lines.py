"""Hostile text: terminal escapes, invisible controls, cutting, what a database refuses; and search tokens."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dshweb.text.cjk import tokens
from dshweb.text.lines import cut, storable, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]8;;http://evil\x07link\x1b]8;;\x07", "link"),
        ("\x1b]0;title\x1b\\x", "x"),
        ("a\x1b(Bb\x1b7c\x1b", "abc"),
        ("\x9b2Jx", "x"),
        ("user\u202egnp.exe", "user⟦U+202E⟧gnp.exe"),
        ("a\u200bb\u2066c\ufeff", "a⟦U+200B⟧b⟦U+2066⟧c⟦U+FEFF⟧"),
        ("a\x00b\x08\x7f", "a⟦U+0000⟧b⟦U+0008⟧⟦U+007F⟧"),
        ("tag\U000e0041", "tag⟦U+E0041⟧"),
        ("safe\rEVIL\r\nx\ty", "safe\nEVIL\nx\ty"),
        ("👨\u200d👩\u200d👧 ❤️ می\u200cخواهم", "👨\u200d👩\u200d👧 ❤️ می\u200cخواهم"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text(alphabet="\x1b\x9b[]0;m\x07\\\u202e\ud800ab\r\n"))
def test_nothing_hidden_is_left_and_showing_twice_is_the_same(text: str) -> None:
    shown = visible(text)
    assert not set(shown) & set("\x1b\x9b\x07\u202e\ud800\r")
    assert visible(shown) == shown


@pytest.mark.parametrize("unit", ["\x1b", "\x1b[", "\x1b]", "\x1bP\x1b", "\x9b0", "\u202e", "\r"])
def test_visible_is_linear(unit: str) -> None:
    start = time.process_time()
    visible(unit * (1_000_000 // len(unit)))
    assert time.process_time() - start < 1


@given(st.text(), st.integers(0, 50))
def test_cut_accounts_for_every_character(text: str, limit: int) -> None:
    shown, hidden = cut(text, limit)
    assert text.startswith(shown)
    assert len(shown) <= limit
    assert len(shown) + hidden == len(text)


def test_cut_does_not_split_a_joined_character() -> None:
    assert cut("ab👨\u200d👩", 4) == ("ab", 3)
    assert cut("e\u0301x", 1) == ("", 3)


@given(st.text())
def test_storable_text_is_taken_by_a_database(text: str) -> None:
    stored = storable(text)
    assert "\x00" not in stored.text
    assert stored.text.encode() is not None
    assert len(stored.text) == len(text)
    assert stored.replaced == sum(a != b for a, b in zip(text, stored.text, strict=True))


def test_storable_says_what_it_replaced() -> None:
    assert storable("a\x00\ud800b").text == "a\ufffd\ufffdb"
    assert storable("a\x00\ud800b").replaced == 2


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("压缩审计", ["压缩", "缩审", "审计"]),
        ("run-audit", ["run-audit", "run", "audit"]),
        ("用DSH查找", ["用", "dsh", "查找"]),
        ("端口8080。", ["端口", "8080"]),
        ("ＦＵＬＬ　幅", ["full", "幅"]),
        ("src/app/main.py", ["src/app/main.py", "src", "app", "main", "py"]),
        ("カタカナ 한국어", ["カタ", "タカ", "カナ", "한국", "국어"]),
        ("a_b", ["a_b", "a", "b"]),
        ("", []),
        ("—…！", []),
    ],
)
def test_tokens(text: str, found: list[str]) -> None:
    assert tokens(text) == found


@given(st.text())
def test_every_token_finds_itself(text: str) -> None:
    for token in set(tokens(text)):
        assert set(tokens(token)) <= set(tokens(text)) | {token}
        assert " " not in token
