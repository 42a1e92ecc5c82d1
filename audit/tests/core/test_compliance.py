"""COMPACTION-AUDIT §7 and rows 107-110 of §8; the vocabulary string of §2."""

from __future__ import annotations

from audit.core.compliance import compliance
from audit.core.fingerprint import config_fp, vocabulary_fp
from audit.core.policy import Policy, Vocabulary
from audit.core.vocabulary import parse_vocabulary
from audit.tests.core.build import build, record_of


def axis(pieces, summary, **lists):
    case = build(pieces, summary)
    return compliance(case.summary, case.leaves, Vocabulary(**lists))


def test_a_keep_term_that_was_paraphrased_is_missing():
    found = axis([("human", "请打分")], "用户要求评估", keep=("打分",))
    assert found["missing"] == [{"term": "打分", "list": "keep", "leafSeqs": [0], "summaryOffsets": []}]


def test_a_drop_term_beside_a_keep_term_is_superseded_and_to_be_reviewed():
    found = axis([("human", "用方案B")], "先方案A, 后方案B", keep=("方案B",), drop=("方案A",))
    assert found["superseded"] == [{"term": "方案A", "list": "drop", "leafSeqs": [], "summaryOffsets": [[0, 1]]}]
    assert found["coexistsReview"] == {"keep": ["方案B"], "drop": ["方案A"]}
    assert found["missing"] == []


def test_terms_that_nobody_wrote_give_nothing():
    found = axis([("human", "hello")], "hello", keep=("打分",), drop=("方案A",), scope=("prod",))
    assert (found["missing"], found["superseded"], found["scopeLost"], found["coexistsReview"]) == ([], [], [], None)


def test_a_scope_term_is_lost_and_case_matters():
    found = axis([("tool_result", "only Staging")], "only staging", scope=("Staging",))
    assert [term["term"] for term in found["scopeLost"]] == ["Staging"]


def test_decomposed_text_equals_composed_text():
    found = axis([("human", "cafe\u0301")], "caf\u00e9", keep=("café",))
    assert found["missing"] == []


def test_a_broken_vocabulary_gives_empty_lists_and_says_so():
    broken = parse_vocabulary("{keep:[")
    assert broken == Vocabulary(error="vocab_invalid")
    record = record_of([("human", "a")], "b", Policy(vocabulary=broken))
    assert {"stage": "compliance", "message": "vocab_invalid"} in record["errors"]
    assert record["compliance"]["missing"] == []


def test_only_texts_count_as_terms_and_each_once():
    found = parse_vocabulary('{"keep":["a",1,null,"a"," "],"drop":[],"other":[]}')
    assert found.keep == ("a",)
    assert found.error is None


def test_other_shapes_of_vocabulary_are_broken():
    assert [parse_vocabulary(text).error for text in ("[]", '{"keep":"a"}', "[" * 100_000)] == ["vocab_invalid"] * 3
    assert parse_vocabulary("").error is None
    assert parse_vocabulary(None).error is None


def test_the_vocabulary_fingerprint_ignores_order_but_not_its_version():
    one, two = Vocabulary(keep=("a", "b")), Vocabulary(keep=("b", "a"))
    assert vocabulary_fp(one) == vocabulary_fp(two)
    assert vocabulary_fp(one).startswith("v1:")
    assert vocabulary_fp(Vocabulary(keep=("a", "b"), fp_version=2)) != vocabulary_fp(one)


def test_the_configuration_fingerprint_is_12_hex_and_follows_every_setting():
    base = config_fp(Policy())
    assert len(base) == 12
    assert set(base) <= set("0123456789abcdef")
    others = [
        Policy(check_compliance=False),
        Policy(extended_classes=False),
        Policy(critical_number_count=3),
        Policy(max_facts_per_category=10),
        Policy(family_min=9),
        Policy(tool_only_max=1),
        Policy(path_markers=("src",)),
        Policy(masking="x"),
        Policy(vocabulary=Vocabulary(keep=("a",))),
    ]
    assert len({base, *map(config_fp, others)}) == 10


def test_the_axis_is_null_when_switched_off():
    assert record_of([("human", "a")], "b", Policy(check_compliance=False))["compliance"] is None
