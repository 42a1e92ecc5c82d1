"""The form and the document it stands for: what is shown and sent back untouched is the same document."""

from __future__ import annotations

import pytest
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from compaction.core.keys import ALL_KEYS, MODES, PAIR
from compaction.page.controls import controls, retain_form, routes, typed_route
from compaction.page.draft import OTHER, Draft, read, rebased, route_text, value_of

ratio = st.floats(0.01, 0.99)
count = st.integers(0, 1 << 53)
text = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=20)
OWN = {
    "mode": st.sampled_from(MODES),
    "auto": st.booleans(),
    "thresholdRatio": ratio,
    "headroomTokens": count | st.just(65_536.0),
    "maxTokens": count,
    "reasoningEffort": text,
    "cachePriority": st.booleans(),
    "compactionRetries": count,
    "maxOverflowRetries": count,
    "modelPolicies": st.just([{"provider": "p", "model": "m", "retainTokens": 1}]),
}


@st.composite
def documents(draw):
    found = draw(st.fixed_dictionaries({}, optional=OWN))
    if draw(st.booleans()):
        found |= draw(
            st.one_of(st.fixed_dictionaries({"retainRatio": ratio}), st.fixed_dictionaries({"retainTokens": count}))
        )
    if draw(st.booleans()):
        found |= dict(zip(PAIR, draw(st.tuples(text, text)), strict=True))
    return {key: found[key] for key in ALL_KEYS if key in found}


class NoRoutes:
    """A catalogue without a model."""

    def __call__(self, provider, model):
        return None

    def allowed(self):
        return []


def sent(draft: Draft, **changes) -> QueryDict:
    """What a browser sends of the page that shows the draft, with some fields changed (None: not sent)."""
    document = draft.document
    shown = controls(document, draft.base or {}, ())
    listed = routes(document, NoRoutes())
    fields = {key: one.text for key, one in shown.items() if key != "modelPolicies"}
    fields |= {
        "retainForm": retain_form(document),
        "route": OTHER if typed_route(document, listed) else route_text(document),
        "plain": draft.plain,
    }
    fields |= changes
    made = QueryDict(mutable=True)
    for name, value in fields.items():
        if value is not None:
            made.setlist(name, value if isinstance(value, list) else [value])
    return made


@given(documents(), documents())
def test_what_is_shown_and_sent_back_untouched_is_the_same_document(base, document):
    base = {key: value for key, value in base.items() if key != "modelPolicies"}
    base |= {key: document[key] for key in ("modelPolicies",) if key in document}
    draft = Draft(3, base, document)
    assert read(sent(draft), base) == document


@given(documents())
def test_a_form_that_sends_nothing_changes_nothing(document):
    assert read(QueryDict(""), document) == document


@given(documents(), documents(), documents())
def test_a_draft_on_another_revision_takes_what_i_did_not_touch_from_there(base, mine, newest):
    made = rebased(Draft(1, base, mine), newest)
    for key in set(ALL_KEYS) - {"retainRatio", "retainTokens", *PAIR}:
        touched = (key in base, base.get(key)) != (key in mine, mine.get(key))
        side = mine if touched else newest
        assert (key in made, made.get(key)) == (key in side, side.get(key)), key


def test_an_empty_field_is_the_default_and_nothing_else_goes():
    base = {"thresholdRatio": 0.7, "headroomTokens": 1000, "retainTokens": 5}
    got = read(sent(Draft(1, base, base), thresholdRatio=" "), base)
    assert got == {"headroomTokens": 1000, "retainTokens": 5}


def test_saving_one_form_of_the_kept_tail_removes_the_other():
    base = {"retainTokens": 5000}
    assert read(sent(Draft(1, base, base), retainForm="ratio", retainRatio="0.2"), base) == {"retainRatio": 0.2}
    assert read(sent(Draft(1, base, base), retainForm="ratio"), base) == {}
    base = {"retainRatio": 0.2}
    assert read(sent(Draft(1, base, base), retainForm="tokens", retainTokens="4 000"), base) == {"retainTokens": 4000}
    assert read(sent(Draft(1, base, base), retainForm="tokens"), base) == {"retainTokens": ""}, "the rules refuse it"


def test_the_pair_moves_together():
    base = {"summarizationProvider": "p", "summarizationModel": "m"}
    draft = Draft(1, base, base)
    assert read(sent(draft, route=""), base) == {}
    assert read(sent(draft, route='["a","b"]'), base) == {"summarizationProvider": "a", "summarizationModel": "b"}
    typed = {"summarizationProvider": "x", "summarizationModel": ""}
    assert read(sent(draft, route=OTHER, **typed), base) == {"summarizationProvider": "x"}, (
        "half a pair is refused later"
    )
    for broken in ("[", "{}", "[1,2]", '["a"]', "[" * 100_000):
        assert read(sent(draft, route=broken), base) == {"summarizationProvider": broken}
    assert read(sent(draft, unset="summarizationModel"), base) == {}


def test_a_switch_back_to_its_default_is_no_change_where_nothing_is_saved():
    draft = Draft(1, {}, {"auto": False})
    assert read(sent(draft, auto="on"), {}) == {}
    assert read(sent(draft, auto="off"), {}) == {"auto": False}
    kept = Draft(1, {"auto": False}, {"auto": False})
    assert read(sent(kept, auto="on"), {"auto": False}) == {"auto": True}, "said, not left to the default"
    assert read(sent(kept, unset="auto"), {"auto": False}) == {}
    base = {"modelPolicies": [{"provider": "p", "model": "m", "retainTokens": 1}]}
    assert read(sent(Draft(1, base, base), unset="modelPolicies"), base) == base, "no control of the form"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("65 536", 65536), ("65\u202f536", 65536), ("65_536", 65536), (" 0.8 ", 0.8), (".5", 0.5), ("1e3", 1000.0),
        ("-1", -1), ("0,8", "0,8"), ("80%", "80%"), ("NaN", "NaN"), ("Infinity", "Infinity"), ("0x10", "0x10"),
        ("１２", "１２"), ("9" * 41, "9" * 41), ("", ""),
    ],
)  # fmt: skip
def test_numbers_are_read_as_people_write_them_and_the_rest_stays_text(text, value):
    assert value_of(text) == value
    assert type(value_of(text)) is type(value)
