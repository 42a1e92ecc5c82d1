"""The settings form's rules: stricter than the harness's, and telling all findings at once.

Rule: seed «Configuration» and COMPACTION §11; DECISIONS 11 (the form refuses `thresholdRatio` 1; an effort outside a
known list is an error, an unknown list a warning). Whatever passes here passes the native rules too (tested).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compaction.core.keys import (
    ALL_KEYS,
    BY_NAME,
    DEFAULT_HEADROOM_TOKENS,
    DEFAULT_RETAIN_RATIO,
    DEFAULT_THRESHOLD_RATIO,
    PAIR,
    POLICY_FIELDS,
    POLICY_KEYS,
    RETENTION,
)
from compaction.core.numbers import is_integer, is_number
from compaction.core.problem import Problem, shown, unknown_key
from compaction.core.rules_common import (
    both_retentions,
    duplicate,
    half_pair,
    no_output_cap,
    not_below,
    retain_ratio,
    wrong_kind,
)
from compaction.core.rules_enhanced import enhanced_problems


def problems(document: object) -> tuple[Problem, ...]:
    """Everything wrong with a document by itself, in the order of the keys, model policies last. Empty: it may be saved.

    What depends on a model (window, efforts, allowed routes) is `rules_routes.problems`.
    """
    if not isinstance(document, Mapping):
        return (Problem("", "not-an-object", f"the settings must be an object, not {shown(document)}"),)
    return tuple(_profile(document))


def _profile(document: Mapping[str, object]) -> Iterator[Problem]:
    for key in document:
        if key not in ALL_KEYS:
            yield unknown_key("", key, ALL_KEYS)
    yield from enhanced_problems(document)
    if "auto" in document and not isinstance(document["auto"], bool):
        yield Problem("auto", "not-a-flag", f"auto must be true or false, not {shown(document['auto'])}")
    yield from _fields(document, "")
    headroom = document.get("headroomTokens", DEFAULT_HEADROOM_TOKENS)
    if "maxTokens" not in document and is_integer(headroom) and headroom == 0:
        yield no_output_cap("maxTokens")
    threshold = document.get("thresholdRatio", DEFAULT_THRESHOLD_RATIO)
    retain = retain_ratio(document, DEFAULT_RETAIN_RATIO)
    yield from not_below("retainRatio", retain, threshold)
    policies = document.get("modelPolicies", ())
    if not isinstance(policies, list | tuple):
        yield Problem("modelPolicies", "not-a-list", f"modelPolicies must be a list, not {shown(policies)}")
        return
    seen: set[tuple[str, str]] = set()
    for index, policy in enumerate(policies):
        yield from _policy(policy, f"modelPolicies[{index}]", document, retain, threshold, seen)


def _policy(
    policy: object, path: str, top: Mapping[str, object], retain: object, threshold: object, seen: set[tuple[str, str]]
) -> Iterator[Problem]:
    if not isinstance(policy, Mapping):
        yield Problem(path, "not-an-object", f"{path} must be an object, not {shown(policy)}")
        return
    for key in policy:
        if key not in POLICY_KEYS:
            yield unknown_key(path, key, POLICY_KEYS)
    provider, model = policy.get("provider"), policy.get("model")
    for name, value in (("provider", provider), ("model", model)):
        if not isinstance(value, str) or not value:
            yield Problem(f"{path}.{name}", "empty-text", f"{path}.{name} must be a non-empty text, not {shown(value)}")
    if isinstance(provider, str) and isinstance(model, str):
        if "\0" in provider + model:
            yield Problem(path, "bad-text", f"{path}: provider and model must not hold a NUL character")
        if (provider, model) in seen:
            yield duplicate(path, policy)
        seen.add((provider, model))
    yield from _fields(policy, f"{path}.")
    own_headroom = policy.get("headroomTokens")
    if "maxTokens" not in policy and "maxTokens" not in top and is_integer(own_headroom) and own_headroom == 0:
        yield no_output_cap(f"{path}.maxTokens")
    if {"retainRatio", "thresholdRatio"} & set(policy):  # else the finding is the profile's own
        own_threshold = policy.get("thresholdRatio", threshold)
        yield from not_below(f"{path}.retainRatio", retain_ratio(policy, retain), own_threshold)


def _fields(fields: Mapping[str, object], prefix: str) -> Iterator[Problem]:
    for name in POLICY_FIELDS:
        if name in fields:
            yield from _field(fields[name], name, prefix)
    if all(name in fields for name in RETENTION):
        yield both_retentions(prefix)
    provider, model = (fields.get(name) for name in PAIR)
    if (provider is None) != (model is None) or (
        isinstance(provider, str) and isinstance(model, str) and bool(provider) != bool(model)
    ):
        yield half_pair(prefix)


def _field(value: object, name: str, prefix: str) -> Iterator[Problem]:
    yield from wrong_kind(value, name, prefix)
    path = prefix + name
    if BY_NAME[name].kind == "ratio" and is_number(value):
        if not 0 < value <= 1:
            yield Problem(path, "not-a-ratio", f"{path} must be a number between 0 and 1, not {shown(value)}")
        elif name == "thresholdRatio" and value == 1:
            yield Problem(
                path, "threshold-is-one",
                f"{path} must be below 1: at 1 the whole window would have to be full first (the harness would take it)",
            )  # fmt: skip
