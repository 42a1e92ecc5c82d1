"""The harness's own rules for compaction settings: refuses exactly the documents that DSH 0.2.1-rc.2 refuses.

Rule: COMPACTION §1, checked against the runtime itself. Two layers stand one behind the other there: the row's
schema (types, whole numbers, lower bounds; the whole document) and then the engine's own checks in a fixed order.
The first failure is the one DSH reports; the wording here is ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compaction.core.keys import (
    BY_NAME,
    DEFAULT_HEADROOM_TOKENS,
    DEFAULT_RETAIN_RATIO,
    DEFAULT_THRESHOLD_RATIO,
    NATIVE_KEYS,
    PAIR,
    POLICY_FIELDS,
    POLICY_KEYS,
    RETENTION,
)
from compaction.core.numbers import is_integer, is_ratio
from compaction.core.problem import Problem, shown, unknown_key
from compaction.core.rules_common import (
    both_retentions,
    duplicate,
    half_pair,
    is_count,
    no_output_cap,
    not_below,
    not_whole,
    retain_ratio,
    wrong_kind,
)

# The schema layer copies unknown members with JavaScript's `in`, which also sees what every object inherits: members of
# these names are dropped there and never reach the check for unknown keys.
INHERITED = frozenset(
    ("constructor", "__defineGetter__", "__defineSetter__", "hasOwnProperty", "__lookupGetter__", "__lookupSetter__",
     "isPrototypeOf", "propertyIsEnumerable", "toString", "valueOf", "__proto__", "toLocaleString")
)  # fmt: skip


def refusal(document: object, known: tuple[str, ...] = NATIVE_KEYS) -> Problem | None:
    """Why the native engine would not start with this document (the first reason it finds), or None.

    `document` is the value of the row's `config`: null and absent mean «all defaults». `known`: the keys it may have.
    """
    return next(_schema(document), None) or next(
        _engine(document if isinstance(document, Mapping) else {}, known), None
    )


# ---- layer 1: the schema of the row


def _schema(document: object) -> Iterator[Problem]:
    if document is None:
        return
    if not isinstance(document, Mapping):
        yield Problem("", "not-an-object", f"the settings must be an object, not {shown(document)}")
        return
    yield from _schema_fields(document, "")
    policies = document.get("modelPolicies")
    if policies is not None:
        if not isinstance(policies, list | tuple):
            yield Problem("modelPolicies", "not-a-list", f"modelPolicies must be a list, not {shown(policies)}")
            return
        for index, policy in enumerate(policies):
            yield from _schema_policy(policy, f"modelPolicies[{index}]")
    auto = document.get("auto")
    if auto is not None and not isinstance(auto, bool):
        yield Problem("auto", "not-a-flag", f"auto must be true or false, not {shown(auto)}")


def _schema_policy(policy: object, path: str) -> Iterator[Problem]:
    if policy is not None and not isinstance(policy, Mapping):
        yield Problem(path, "not-an-object", f"{path} must be an object, not {shown(policy)}")
        return
    fields: Mapping[str, object] = policy or {}
    for name in ("provider", "model"):
        value = fields.get(name)
        if not isinstance(value, str):
            yield Problem(f"{path}.{name}", "not-a-text", f"{path}.{name} must be a non-empty text, not {shown(value)}")
    yield from _schema_fields(fields, f"{path}.")


def _schema_fields(fields: Mapping[str, object], prefix: str) -> Iterator[Problem]:
    for name in POLICY_FIELDS:
        value = fields.get(name)
        if value is not None:  # the schema lets null pass; the engine does not
            yield from wrong_kind(value, name, prefix)


# ---- layer 2: the engine


def _engine(document: Mapping[str, object], known: tuple[str, ...]) -> Iterator[Problem]:
    yield from _unknown(document, known, "")
    yield from _policy_fields(document, "")
    if "auto" in document and document["auto"] is None:
        yield Problem("auto", "not-a-flag", "auto must be true or false, not null")
    headroom = document.get("headroomTokens", DEFAULT_HEADROOM_TOKENS)
    max_tokens = document.get("maxTokens", headroom)
    yield from _positive("maxTokens", max_tokens)
    threshold = document.get("thresholdRatio", DEFAULT_THRESHOLD_RATIO)
    retain = retain_ratio(document, DEFAULT_RETAIN_RATIO)
    yield from not_below("retainRatio", retain, threshold)
    policies = _policies(document)
    yield from _policy_shapes(policies)
    for index, policy in enumerate(policies):
        path = f"modelPolicies[{index}]"
        own = policy.get("maxTokens")
        if own is None and "maxTokens" not in document:
            own = policy.get("headroomTokens")
        yield from _positive(f"{path}.maxTokens", max_tokens if own is None else own)
        own_threshold = policy.get("thresholdRatio", threshold)
        yield from not_below(f"{path}.retainRatio", retain_ratio(policy, retain), own_threshold)


def _policies(document: Mapping[str, object]) -> list[Mapping[str, object]]:
    raw = document.get("modelPolicies")
    return [item if isinstance(item, Mapping) else {} for item in raw] if isinstance(raw, list | tuple) else []


def _policy_shapes(policies: list[Mapping[str, object]]) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, policy in enumerate(policies):
        path = f"modelPolicies[{index}]"
        yield from _unknown(policy, POLICY_KEYS, path)
        for name in ("provider", "model"):
            if not policy.get(name):
                yield Problem(f"{path}.{name}", "empty-text", f"{path}.{name} must be a non-empty text")
        yield from _policy_fields(policy, f"{path}.")
        # the harness joins the two with a NUL, so that texts with a NUL inside may collide; so they do here
        route = f"{policy.get('provider')}\0{policy.get('model')}"
        if route in seen:
            yield duplicate(path, policy)
        seen.add(route)


def _policy_fields(fields: Mapping[str, object], prefix: str) -> Iterator[Problem]:
    for name in ("thresholdRatio", "headroomTokens", "retainRatio", "retainTokens"):
        yield from _value(fields, name, prefix)
    if all(name in fields for name in RETENTION):
        yield both_retentions(prefix)
    for name in ("maxTokens", "compactionRetries", "maxOverflowRetries"):
        yield from _value(fields, name, prefix)
    yield from _pair(fields, prefix)


def _value(fields: Mapping[str, object], name: str, prefix: str) -> Iterator[Problem]:
    if name not in fields:
        return
    value, kind, path = fields[name], BY_NAME[name].kind, prefix + name
    if kind == "ratio":
        if not is_ratio(value):
            yield Problem(path, "not-a-ratio", f"{path} must be a number in (0, 1], not {shown(value)}")
    elif not is_count(value, kind):
        yield not_whole(path, kind, value)


def _pair(fields: Mapping[str, object], prefix: str) -> Iterator[Problem]:
    provider, model = (fields.get(name) for name in PAIR)
    for name in PAIR:
        if name in fields and not isinstance(fields[name], str):
            yield Problem(prefix + name, "not-a-text", f"{prefix}{name} must be a text, not {shown(fields[name])}")
    if (provider is None) != (model is None) or bool(provider) != bool(model):
        yield half_pair(prefix)


def _unknown(fields: Mapping[str, object], known: tuple[str, ...], path: str) -> Iterator[Problem]:
    for key in fields:
        if key not in known and key not in INHERITED:
            yield unknown_key(path, key, known)


def _positive(path: str, value: object) -> Iterator[Problem]:
    if not (is_integer(value) and value > 0):
        yield no_output_cap(path)
