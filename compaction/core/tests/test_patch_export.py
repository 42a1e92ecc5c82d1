"""Writing settings into a patch file: nothing else in it changes, and what is written reads back."""

from __future__ import annotations

import random
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.core.document import same
from compaction.core.patch_export import CannotRoundTrip, _target, _verify, row_text, write_patch
from compaction.core.patch_rows import native_part, read_patch
from compaction.core.patch_yaml import PatchError, compose
from compaction.core.rules_form import problems
from compaction.core.tests.documents import some_document

BETTER, NATIVE = "dsh-better-compact", "compaction-basic"
FIRST_BOOT = """\
# Your patch layer for this dsh profile, applied after every bundle layer:
# a top-level YAML array (`!!js` expressions allowed).
[]
"""
HANDOFF = {"mode": "handoff", "auto": True, "thresholdRatio": 0.8, "headroomTokens": 65536, "maxTokens": 65536}


def dedent(text):
    return textwrap.dedent(text).lstrip("\n")


def test_into_the_file_of_a_first_boot():
    got = write_patch(FIRST_BOOT, HANDOFF, BETTER)
    assert got.text == FIRST_BOOT.replace("[]\n", row_text(HANDOFF, BETTER))
    assert (got.changed, got.line) == (True, 3)
    assert row_text(HANDOFF, BETTER) == dedent("""
        - id: dsh-better-compact
          config:
            mode: handoff
            auto: true
            thresholdRatio: 0.8
            headroomTokens: 65536
            maxTokens: 65536
        """)


@pytest.mark.parametrize("old", ["[]", "[{provider: q, model: n}]", "", "~"])
def test_a_comment_behind_a_list_stays(old):
    before = f"- id: compaction-basic\n  config:\n    modelPolicies: {old}  # by hand\n    maxTokens: 9\n"
    policies = [{"provider": "p", "model": "m"}]
    got = write_patch(before, {"modelPolicies": policies}, NATIVE)
    assert got.text.split("\n")[2].split("#")[1] == " by hand"
    assert read_patch(got.text).chosen.document == {"modelPolicies": policies}


def test_the_native_row_leaves_the_enhanced_keys_out_and_says_so():
    got = write_patch(None, {**HANDOFF, "reasoningEffort": "low"}, NATIVE)
    assert got.left_out == ("mode", "reasoningEffort")
    assert read_patch(got.text).chosen.document == native_part(HANDOFF)


def test_only_the_changed_lines_change():
    before = dedent("""
        # top
        - id: llm   # the model
          config: { a: !!js "1 + 1",   b: [ 1,2 ] }

        - id: compaction-basic # ours
          # why so low
          config:   # settings
            thresholdRatio: 0.7  # for the small box
            # a note between
            retainRatio: 0.2   # gone soon

            modelPolicies:
              # the pro one
              - provider: p   # p
                model: m
        # bottom
        - id: last
          config: |
            text # not a comment
        """)
    policies = [{"provider": "p", "model": "m"}]
    document = {"thresholdRatio": 0.65, "retainTokens": 1500, "modelPolicies": policies}
    got = write_patch(before, document, NATIVE)
    assert got.text == before.replace("0.7  #", "0.65  #").replace("    retainRatio: 0.2   # gone soon\n", "").replace(
        "        model: m\n", "        model: m\n    retainTokens: 1500\n"
    )
    # and again: nothing to do
    again = write_patch(got.text, document, NATIVE)
    assert (again.text, again.changed) == (got.text, False)


def test_expressions_of_our_own_row_stay_unless_the_document_sets_them():
    before = "- id: compaction-basic\n  config:\n    headroomTokens: !!js process.env.N\n    auto: true\n"
    got = write_patch(before, {"auto": False}, NATIVE)
    assert got.text == before.replace("true", "false")
    assert got.kept == ("headroomTokens",)
    with pytest.raises(CannotRoundTrip) as caught:
        write_patch(before, {"headroomTokens": 5}, NATIVE)
    assert (caught.value.code, caught.value.line) == ("expression", 3)
    assert caught.value.paste == "- id: compaction-basic\n  config:\n    headroomTokens: 5\n"
    twin = before.replace("headroomTokens", "retainTokens")
    with pytest.raises(CannotRoundTrip):
        write_patch(twin, {"retainRatio": 0.1}, NATIVE)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("- id: compaction-basic\n", "- id: compaction-basic\n  config:\n    auto: true\n"),
        ("- id: compaction-basic", "- id: compaction-basic\n  config:\n    auto: true"),
        ("- id: compaction-basic\n  config:\n- id: x\n", "- id: compaction-basic\n  config: {auto: true}\n- id: x\n"),
        ("- id: compaction-basic\n  config: {} # c\n", "- id: compaction-basic\n  config: {auto: true} # c\n"),
        ("- {id: compaction-basic}\n", "- {id: compaction-basic, config: {auto: true}}\n"),
        ('[{"id": "compaction-basic", "config": {"auto": false}}]', '[{"id": "compaction-basic", "config": {auto: true}}]'),
        ('[{"id": "x"}]\n', '[{"id": "x"}, {id: compaction-basic, config: {auto: true}}]\n'),
        ("[]", "- id: compaction-basic\n  config:\n    auto: true\n"),
        ("- id: x", "- id: x\n- id: compaction-basic\n  config:\n    auto: true\n"),
        ("- id: x\r\n", "- id: x\r\n- id: compaction-basic\r\n  config:\r\n    auto: true\r\n"),
        ("  - id: x\n# end\n", "  - id: x\n# end\n  - id: compaction-basic\n    config:\n      auto: true\n"),
        ("# only words\n", "# only words\n- id: compaction-basic\n  config:\n    auto: true\n"),
        ("\ufeff- id: x\n", "\ufeff- id: x\n- id: compaction-basic\n  config:\n    auto: true\n"),
        ("- config:\n    auto: false\n  id: compaction-basic\n", "- config:\n    auto: true\n  id: compaction-basic\n"),
        (
            "- insert:\n    - id: compaction-basic\n      config:\n          auto: no\n",
            "- insert:\n    - id: compaction-basic\n      config:\n          auto: true\n",
        ),
        (
            "- id: compaction-basic\n  config:\n    maxTokens: 5\n- id: x\n",
            "- id: compaction-basic\n  config:\n    auto: true\n- id: x\n",
        ),
        ("- id: compaction-basic\n  config:\n    auto:\n", "- id: compaction-basic\n  config:\n    auto: true\n"),
    ],
)  # fmt: skip
def test_shapes_of_a_row(before, after):
    got = write_patch(before, {"auto": True}, NATIVE)
    assert got.text == after


def test_back_to_all_defaults():
    before = "- id: compaction-basic\n  config: # c: d\n    # note\n    auto: false\n    maxTokens: 5 # why\n- id: x\n"
    assert write_patch(before, {}, NATIVE).text == "- id: compaction-basic\n  config: {} # c: d\n    # note\n- id: x\n"


@pytest.mark.parametrize(
    ("before", "code"),
    [
        ("- &r {id: compaction-basic, config: {auto: false}}\n- *r\n", "anchor"),
        ("- id: compaction-basic\n  config: &c {auto: false}\n", "anchor"),
        ("- id: x\n  config: &c {auto: false}\n- id: compaction-basic\n  config: *c\n", "anchor"),
        ("- id: compaction-basic\n  config:\n    treshold: 1\n", "unknown-key"),
        ("- id: compaction-basic\n  config:\n    auto: >\n      x\n", "block-scalar"),
        ("- id: compaction-basic\n  config: {auto: false, # why\n   maxTokens: 1}\n", "flow-config"),
        ("- id: compaction-basic\n  config: {auto: false, maxTokens: !!js 1}\n", "flow-config"),
        ("- id: compaction-basic\n  config: 3\n", "odd-config"),
        ("- id: x\n...\n", "document-end"),
        ("- id: x\r- id: y\n", "odd-line-break"),
        (
            "- id: compaction-basic\n  config:\n    modelPolicies:\n      # mine\n      - {provider: p, model: m}\n",
            "comment",
        ),
    ],
)
def test_refused_rather_than_changed_inexactly(before, code):
    with pytest.raises(CannotRoundTrip) as caught:
        write_patch(before, {"auto": True}, NATIVE)
    assert caught.value.code == code
    assert caught.value.paste == row_text({"auto": True}, NATIVE)


def test_a_file_that_dsh_would_not_load_is_not_written():
    with pytest.raises(PatchError) as caught:
        write_patch("a: 1\n", {}, BETTER)
    assert not isinstance(caught.value, CannotRoundTrip)


def test_lines_leave_with_their_own_line_ends():
    before = "- id: compaction-basic\r\n  config:\r\n    auto: true\r\n    maxTokens: 5\r\n- id: x\r\n"
    assert write_patch(before, {"maxTokens": 5}, NATIVE).text == before.replace("    auto: true\r\n", "")
    assert write_patch(before, {"auto": True}, NATIVE).text == before.replace("    maxTokens: 5\r\n", "")


def test_lists_of_policies():
    two = [{"provider": "p", "model": "m", "maxTokens": 3}, {"provider": "p", "model": "n: x"}]
    before = "- id: compaction-basic\n  config:\n    modelPolicies: []\n    auto: true\n"
    got = write_patch(before, {"modelPolicies": two, "auto": True}, NATIVE)
    assert got.text == dedent("""
        - id: compaction-basic
          config:
            modelPolicies:
              - provider: p
                model: m
                maxTokens: 3
              - provider: p
                model: "n: x"
            auto: true
        """)
    back = write_patch(got.text, {"modelPolicies": [], "auto": True}, NATIVE)
    assert back.text == before
    assert write_patch(back.text, {"auto": True}, NATIVE).text == before.replace("    modelPolicies: []\n", "")


def test_an_inserted_row_gives_way_to_an_entry_of_the_file():
    before = (
        "- id: compaction-basic\n  config: {auto: false}\n- insert: [{id: compaction-basic, config: {auto: false}}]\n"
    )
    assert write_patch(before, {"auto": True}, NATIVE).text == before.replace("false", "true", 1)


def test_a_change_to_another_row_would_be_noticed():
    before = "- id: x\n  config: {a: 1}\n- id: compaction-basic\n  config: {auto: true}\n"
    root = compose(before)
    target = _target(root, before, NATIVE)
    assert _verify(before, root, before, target, {"auto": True}, NATIVE) == 3
    for after in (
        before.replace("a: 1", "a: 2"), before.replace("id: x", "id: y"), before.replace("{a: 1}", "{a: 1, b: 2}"), before + "- id: z\n",
        before.replace("a: 1", "a: '1'"), "- id: w\n" + before, before.replace("auto: true", "auto: false"),
        before.replace("basic\n", "basic\n  disabled: true\n"),
        before.replace("- id: compaction-basic\n  config: {auto: true}\n", ""), before + "- [",
    ):  # fmt: skip
        with pytest.raises(PatchError):
            _verify(before, root, after, target, {"auto": True}, NATIVE)


# ---- any file made of such pieces, any good document

PIECES = (
    "# a comment: with a colon\n", "\n", "- {id: y, config: {k: [1, {z: 2}]}}\n",
    "- id: other   # x\n  config:\n    a: !!js \"f('x')\"\n    b: |\n      # text\n",
    "- insert:\n  - id: q\n    name: 'x'   \n", "- id: empty\n",
    "- id: z\n  config: &a\n    - 1\n  disabled: yes\n- id: zz\n  config: *a\n",
)  # fmt: skip
OURS = (
    "- id: {0}\n  config:\n    auto: false # a\n    # b\n    retainTokens: 0x10\n\n    compactionRetries: 3\n",
    "- id: {0}\n", "- id: {0}\n  disabled: false\n  config: {{}}\n", "- {{id: '{0}', config: {{maxTokens: 3}}}}\n",
    "- insert:\n    - id: {0}\n      config:\n        thresholdRatio: .9\n        modelPolicies:\n"
    "        - provider: p\n          model: m # pro\n          maxTokens: 3\n",
    "- id: {0}\n  config:\n    summarizationProvider: \"\"\n    summarizationModel: ''\n    headroomTokens: !!js 4\n",
)  # fmt: skip


@given(
    st.lists(st.sampled_from(PIECES), max_size=4), st.sampled_from((None, *OURS)), st.lists(st.sampled_from(PIECES), max_size=4),
    st.sampled_from((BETTER, NATIVE)), st.integers(0, 2**32), st.sampled_from(("\n", "\r\n")),
)  # fmt: skip
def test_the_rest_of_the_file_stays_to_the_letter(above, ours, below, form, seed, newline):
    document = some_document(random.Random(seed))
    if not isinstance(document, dict) or problems(document):
        return
    parts = ["".join(part).replace("\n", newline) for part in (above, [ours.format(form)] if ours else [], below)]
    text = "".join(parts)
    try:
        got = write_patch(text, document, form)
    except CannotRoundTrip as refused:
        if refused.code not in ("expression", "comment", "anchor"):
            raise
        return
    if ours:
        assert got.text.startswith(parts[0])
        assert got.text.endswith(parts[2])
    else:
        assert got.text.startswith(text)
    source = next(source for source in read_patch(got.text).sources if source.form == form)
    want = native_part(document) if form == NATIVE else document
    assert same(source.document, want)
    assert [key for key, _ in source.expressions] == list(got.kept)
    assert write_patch(got.text, document, form).changed is False
