"""What is masked and what stays: the field reports' lists, our own lists, and the laws of masking."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dshweb.text.redact import Masker, Pattern, PatternError, compile_pattern

from . import rows

MASKER = Masker()
FIELD_SECRETS = (
    "sk-proj-EXAMPLE0000EXAMPLE0000EXAMPLE0000", "EXAMPLEpass", "AKIAIOSFODNN7EXAMPLE",
    "ghp_EXAMPLEEXAMPLEEXAMPLEEXAMPLE0000", "github_pat_EXAMPLE0000000000000000_EXAMPLE", "glpat-EXAMPLE00000000000000",
    "xoxb-0000000000-EXAMPLEEXAMPLE", "m0-EXAMPLE0000000000000000000000000000", "mem0_EXAMPLE000000000000",
    "示例TOKEN000111222", "示例密码Abc12345", "示例Passw0rd", "example-hunter2-0000", "EXAMPLE\\n",
    "EXAMPLEKEY000000", "EXAMPLE.EXAMPLE.EXAMPLE0000", "EXAMPLEKEY00000000000",
)  # fmt: skip
pieces = st.sampled_from(
    [r.text for r in rows.must_mask()] + rows.must_not_mask() + [" ", "\n", "。", "[redacted:aws]"]
)
texts = st.one_of(st.text(), st.lists(st.one_of(pieces, st.text(max_size=8)), max_size=6).map("".join))


@pytest.mark.parametrize(("text", "secret"), list(zip(rows.field("must-mask.txt"), FIELD_SECRETS, strict=True)))
def test_field_secret_is_gone(text: str, secret: str) -> None:
    assert secret in text
    assert secret not in MASKER.mask_text(text)


@pytest.mark.parametrize("text", rows.field("must-not-mask.txt"))
def test_field_look_alike_stays(text: str) -> None:
    assert MASKER.mask_text(text) == text


@pytest.mark.parametrize("row", rows.must_mask(), ids=lambda r: r.text[:40])
def test_secret_is_gone_and_named(row: rows.Row) -> None:
    masked = MASKER.mask(row.text)
    assert row.secret in row.text
    assert row.secret not in masked.text
    assert masked.count_by_class.get(row.name, 0) >= 1


@pytest.mark.parametrize("text", rows.must_not_mask())
def test_look_alike_stays(text: str) -> None:
    assert MASKER.mask_text(text) == text


def test_the_lists_are_long_enough() -> None:
    assert len(rows.must_mask()) >= 80
    assert len(rows.must_not_mask()) >= 80


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Authorization: Bearer EXAMPLE.EXAMPLE.EXAMPLE0000", "Authorization: Bearer [redacted:bearer]"),
        ("API token：示例TOKEN000111222", "API token：[redacted:assignment]"),
        ("密码是「示例密码Abc12345」。", "密码是「[redacted:assignment]」。"),
        (
            "postgres://admin:EXAMPLEpass@10.0.0.5:5432/prod",
            "postgres://admin:[redacted:url-password]@10.0.0.5:5432/prod",
        ),
        ("OPENAI_API_KEY=sk-proj-EXAMPLE0000EXAMPLE0000", "OPENAI_API_KEY=[redacted:openai-like]"),
        ("ｐｗｄ：Ｅｘａｍｐｌｅ００００ 中", "ｐｗｄ：[redacted:assignment] 中"),
    ],
)
def test_what_tells_what_it_was_is_kept(text: str, masked: str) -> None:
    assert MASKER.mask_text(text) == masked


def test_unterminated_private_key_goes_to_the_end_of_the_text() -> None:
    assert MASKER.mask_text("a\n-----BEGIN PRIVATE KEY-----\nMIIEXAMPLE\nEXAMPLE") == "a\n[redacted:private-key]"


@given(texts)
def test_masking_twice_changes_nothing(text: str) -> None:
    once = MASKER.mask_text(text)
    assert MASKER.mask(once).text == once
    assert MASKER.mask(once).count_by_class == {}


@given(texts)
def test_in_is_kept_and_hidden(text: str) -> None:
    masked = MASKER.mask(text)
    added = sum(n * len(f"[redacted:{name}]") for name, n in masked.count_by_class.items())
    assert len(text) - masked.hidden + added == len(masked.text)
    assert masked.text == MASKER.mask_text(text)


@given(texts)
def test_no_hit_means_nothing_to_mask(text: str) -> None:
    assert MASKER.hit(text) or MASKER.mask_text(text) == text


@given(st.lists(texts, max_size=5), st.randoms())
def test_pieces_joined_are_the_joined_text_masked(parts: list[str], random: object) -> None:
    joined = "".join(parts)
    cuts = sorted(random.randrange(len(joined) + 1) for _ in range(4))  # type: ignore[attr-defined]
    split = [joined[a:b] for a, b in zip([0, *cuts], [*cuts, len(joined)], strict=True)]
    masked = MASKER.mask_pieces(split)
    assert len(masked) == len(split)
    assert "".join(masked) == MASKER.mask_text(joined)


@given(st.text(alphabet="\ud800\udfff\x00密码是:=「」'\"\\ab1 \n[redacted:aws]", max_size=60))
def test_broken_text_survives(text: str) -> None:
    assert isinstance(MASKER.mask_text(text), str)


def test_a_secret_over_pieces_is_masked_where_it_began() -> None:
    assert MASKER.mask_pieces(["key ghp_EXAM", "PLEEXAMPLEEXAMPLE", "EXAMPLE0000 ok"]) == [
        "key [redacted:github]",
        "",
        " ok",
    ]


def test_team_pattern_is_used_and_changes_the_version() -> None:
    team = Masker([Pattern("badge", r"BADGE-(\d{4})", 1)])
    assert team.mask("BADGE-0000 and more").text == "BADGE-[redacted:badge] and more"
    assert team.version != MASKER.version == Masker().version
    assert re.fullmatch("[a-z0-9]{8,16}", team.version)


def test_team_pattern_sees_short_text_and_json() -> None:
    team = Masker([Pattern("pin", "PIN[0-9]")])
    assert team.mask_text("PIN1") == "[redacted:pin]"
    assert team.mask_json({"a": ["PIN2"]}) == {"a": ["[redacted:pin]"]}


@pytest.mark.parametrize(
    ("expression", "what"),
    [
        ("a*", "empty string"), ("", "empty"), (r"\b", "empty string"), ("(?=a)b", "perl operator"), ("(ab", "missing"),
        (r"(a)\1", "escape"), ("a" * 1001, "longer"), (r"\Ca", "half"), ("(?:a{1000}){100}", "repetition"),
    ],
)  # fmt: skip
def test_a_pattern_we_refuse_says_why(expression: str, what: str) -> None:
    with pytest.raises(PatternError) as caught:
        compile_pattern(expression)
    assert what in caught.value.what
    assert caught.value.where


def test_a_refused_team_pattern_is_named() -> None:
    with pytest.raises(PatternError, match="badge"):
        Masker([Pattern("badge", "x*")])
    with pytest.raises(PatternError, match="group 2"):
        Masker([Pattern("badge", "(x)y", 2)])
    with pytest.raises(PatternError):
        Masker([Pattern("Not A Name", "xy")])
