"""Reading compaction settings from a patch file: rows of both forms, aliases, expressions, hostile files."""

from __future__ import annotations

import contextlib
import time

import pytest

from compaction.core.patch_rows import loads, read_patch
from compaction.core.patch_scalars import Expression, read_plain, write_scalar
from compaction.core.patch_yaml import PatchError

FILE = """\
# my layer
- id: llm-deepseek
  config: {maxTokens: 8192}
- id: compaction-basic   # the headless one
  config:
    thresholdRatio: 1
    headroomTokens: !!js "Number(process.env.ROOM)"
- insert:
    - id: other
      name: x
    - id: dsh-better-compact
      name: '@menghuan1918/dsh-apollo'
      config:
        mode: handoff
        retainTokens: 2_000
"""


def test_both_forms_are_found_and_better_compact_wins():
    got = read_patch(FILE)
    assert [(s.form, s.key, s.place, s.line) for s in got.sources] == [
        ("compaction-basic", "compaction-basic", "[1]", 4),
        ("dsh-better-compact", "@menghuan1918/dsh-apollo#dsh-better-compact", "[2].insert[1]", 11),
    ]
    assert got.chosen is got.sources[1]
    assert [problem.code for problem in got.warnings] == ["more-than-one-source"]
    assert got.chosen.document == {"mode": "handoff", "retainTokens": "2_000"}, "js-yaml 4.3 reads no underscores"
    assert [problem.path for problem in got.chosen.problems] == ["retainTokens"]
    native = got.sources[0]
    assert native.document == {"thresholdRatio": 1}
    assert native.problems == (), "native rules take a ratio of 1"
    assert native.expressions == (("headroomTokens", "Number(process.env.ROOM)"),)
    assert loads("compaction-basic", native.document)


@pytest.mark.parametrize(
    ("row", "key"),
    [
        ("id: dsh-better-compact", "dsh-better-compact#dsh-better-compact"),
        ("{id: dsh-better-compact, name: dsh-better-compact}", "dsh-better-compact#dsh-better-compact"),
        ("{id: dsh-better-compact, name: dsh-apollo}", "dsh-apollo#dsh-better-compact"),
        ("id: 'dsh-apollo#dsh-better-compact'", "dsh-apollo#dsh-better-compact"),
        ("id: '@menghuan1918/dsh-apollo#dsh-better-compact'", "@menghuan1918/dsh-apollo#dsh-better-compact"),
        ("{id: mine, name: dsh-better-compact}", "dsh-better-compact#dsh-better-compact"),
        ("{id: mine, name: dsh-apollo}", None),
        ("{id: mine, name: '@deepseek-ai/dsh-compaction-basic'}", "mine"),
        ("{id: compaction-basic, name: dsh-better-compact/engine}", None),
        ("{id: dsh-better-compact, name: something-else}", None),
        ("id: compaction", None),
    ],
)
def test_which_rows_count(row, key):
    row = row[:-1] + ", config: {auto: true}}" if row.startswith("{") else f"{row}\n  config: {{auto: true}}"
    got = read_patch(f"- {row}\n")
    assert (got.chosen.key if got.chosen else None) == key


def test_rows_inside_groups_and_presets():
    text = """\
- id: preset-standard
  config:
    id: standard
    plugins:
      - id: compaction
        name: cordis:group
        group: true
        config:
          - {id: compaction-basic, name: "@deepseek-ai/dsh-compaction-basic", config: {retainTokens: 5500}}
"""
    (source,) = read_patch(text).sources
    assert (source.place, source.document) == ("[0].config.plugins[0].config[0]", {"retainTokens": 5500})


def test_the_last_row_of_a_form_wins_and_a_disabled_one_only_without_another():
    text = "- {id: compaction-basic, config: {auto: true}}\n- {id: compaction-basic, config: {auto: false}}\n"
    assert read_patch(text).chosen.document == {"auto": False}
    text += "- {id: dsh-better-compact, disabled: true, config: {mode: goal}}\n"
    assert read_patch(text).chosen.document == {"auto": False}
    alone = read_patch("- {id: dsh-better-compact, disabled: true, config: {mode: goal}}\n")
    assert [problem.code for problem in alone.warnings] == ["row-disabled"]


def test_a_file_without_settings():
    got = read_patch("# nothing yet\n[]\n")
    assert (got.sources, got.chosen, got.warnings) == ((), None, ())
    assert read_patch("- id: compaction-basic\n  disabled: true\n").sources == ()
    assert read_patch("- id: compaction-basic\n  config:\n").chosen.document == {}


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("", "not-a-list", None), ("# only\n", "not-a-list", None), ("a: 1\n", "not-a-list", 1), ("- a\n", "not-a-row", 1),
        ("- id: x\n- [", "not-yaml", 2), ("- id: x\n---\n- id: y\n", "not-yaml", 2), ("- {a: 1, a: 2}\n", "key-twice", 1),
        ("- {1: 1, 0x1: 2}\n", "key-twice", 1), ("- ? [a]\n  : 1\n", "odd-key", 1), ("- id: \x07\n", "not-yaml", 1),
        ("- id: x\n# a\u2028b\n", "odd-line-break", 2), ('- id: "a\x85b"\n', "odd-line-break", 1),
        ("- id: compaction-basic\n  config: !foo {a: 1}\n", "unknown-tag", 2),
        ("- id: compaction-basic\n  config: [1]\n", "odd-config", 2),
        ("- id: compaction-basic\n  config: !!js x\n", "odd-config", 2),
        ("- &a {id: x, me: *a}\n", "too-deep", None), ("- " + "[" * 300, "too-deep", None), ("- id: a\n" * 20_000, "too-large", None),
        ("- " * 3000, "too-deep", None), ("- a: &a [1,1,1,1,1,1,1,1,1,1]\n" + "".join(
            f"  {chr(98 + i)}: &{chr(98 + i)} [{','.join([f'*{chr(97 + i)}'] * 10)}]\n" for i in range(8)), "too-deep", None),
    ],
)  # fmt: skip
def test_files_that_are_refused(text, code, line):
    with pytest.raises(PatchError) as caught:
        read_patch(text)
    assert (caught.value.code, caught.value.line) == (code, line)


@pytest.mark.parametrize(
    "hostile",
    [
        "[" * 100_000,
        "{" * 100_000,
        "- ?\n" * 32_000,
        "- ?\n" * 4_900,
        "[" + "a," * 9_900 + "]",
        "\n" * 130_000,
        "- &a b\n" + "- *a\n" * 26_000,
        "- " + "a\n  " * 32_000,
        ": " * 100_000,
    ],
)
def test_hostile_files_end_soon(hostile):
    start = time.perf_counter()
    with contextlib.suppress(PatchError):
        read_patch(hostile)
    assert time.perf_counter() - start < 15, "too many seconds for 128 KiB, even on a busy machine"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", "yes"), ("0o17", 15), ("017", 17), ("0x1F", 31), ("-0b11", -3), ("1e3", 1000.0), (".5", 0.5), ("1.", 1.0),
        ("1_000", "1_000"),
        ("1e400", "1e400"), ("+12", 12), ("~", None), ("NULL", None), ("TRUE", True), ("off", "off"), ("2026-01-01", "2026-01-01"),
        (".inf", float("inf")), ("-.INF", float("-inf")), ("<<", "<<"), ("0b2", "0b2"), ("-", "-"), ("9" * 400, "9" * 400), ("1e-7", 1e-7),
    ],
)  # fmt: skip
def test_plain_scalars_are_read_as_dsh_reads_them(text, value):
    got = read_plain(text)
    assert got == value
    assert type(got) is type(value)


def test_scalars_read_back():
    for value in (
        True,
        None,
        0,
        -5,
        0.16,
        1e21,
        1e-7,
        "",
        "goal",
        "yes",
        "true",
        "1",
        "a: b",
        "#x",
        "中文",
        '"\\',
        "\n\x85\u2028😀",
    ):
        text = f"- {{id: dsh-better-compact, config: {{mode: {write_scalar(value)}}}}}\n"
        assert read_patch(text).chosen.document == {"mode": value}
    for value in (float("nan"), Expression("x"), [], object()):
        with pytest.raises(TypeError):
            write_scalar(value)


def test_an_explicit_text_tag_and_long_but_decent_files():
    assert read_patch("- id: dsh-better-compact\n  config: {mode: !!str 5, auto: &x true}\n").chosen.document == {
        "mode": "5",
        "auto": True,
    }
    many = "- id: other\n  config: {a: [1, 2, 3]}\n" * 800
    assert len(read_patch(many + "- {id: compaction-basic, config: {auto: true}}\n").sources) == 1
    deep = "- id: x\n  config: " + "[" * 57 + "]" * 57 + "\n"
    assert read_patch(deep).sources == ()
    with pytest.raises(PatchError):
        read_patch(deep.replace("[", "[[").replace("]", "]]"))
