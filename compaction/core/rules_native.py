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
    POLICY_KEYS,
)
from compaction.core.numbers import is_integer, is_number, is_ratio
from compaction.core.problem import Problem, shown, unknown_key

_FIELDS = (
    "thresholdRatio", "headroomTokens", "retainRatio", "retainTokens", "summarizationProvider", "summarizationModel",
    "maxTokens", "compactionRetries", "maxOverflowRetries",
)  # fmt: skip
_LOWEST = {"count": 0, "positive": 1}
# The schema layer copies unknown members with JavaScript's `in`, which also sees what every object inherits: members of
# these names are dropped there and never reach the check for unknown keys.
INHERITED = frozenset(
    ("constructor", "__defineGetter__", "__defineSetter__", "hasOwnProperty", "__lookupGetter__", "__lookupSetter__",
     "isPrototypeOf", "propertyIsEnumerable", "toString", "valueOf", "__proto__", "toLocaleString")
)  # fmt: skip


def refusal(document: object) -> Problem | None:
    """Why the native engine would not start with this document (the first reason it finds), or None.

    `document` is the value of the row's `config`: null and absent mean «all defaults».
    """
    return next(_schema(document), None) or next(_engine(document if isinstance(document, Mapping) else {}), None)


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
    for name in _FIELDS:
        value = fields.get(name)
        if value is None:
            continue  # the schema lets null pass; the engine does not
        kind, path = BY_NAME[name].kind, prefix + name
        if kind == "text":
            if not isinstance(value, str):
                yield Problem(path, "not-a-text", f"{path} must be a text, not {shown(value)}")
        elif not is_number(value):
            yield not_a_number(path, value)
        elif kind in _LOWEST and not (is_integer(value) and value >= _LOWEST[kind]):
            yield not_whole(path, kind, value)


# ---- layer 2: the engine


def _engine(document: Mapping[str, object]) -> Iterator[Problem]:
    yield from _unknown(document, NATIVE_KEYS, "")
    yield from _policy_fields(document, "")
    if "auto" in document and document["auto"] is None:
        yield Problem("auto", "not-a-flag", "auto must be true or false, not null")
    headroom = document.get("headroomTokens", DEFAULT_HEADROOM_TOKENS)
    max_tokens = document.get("maxTokens", headroom)
    yield from _positive("maxTokens", max_tokens)
    threshold = document.get("thresholdRatio", DEFAULT_THRESHOLD_RATIO)
    retain = _retain_ratio(document, DEFAULT_RETAIN_RATIO)
    yield from _below("retainRatio", retain, threshold)
    policies = _policies(document)
    yield from _policy_shapes(policies)
    for index, policy in enumerate(policies):
        path = f"modelPolicies[{index}]"
        own = policy.get("maxTokens")
        if own is None and "maxTokens" not in document:
            own = policy.get("headroomTokens")
        yield from _positive(f"{path}.maxTokens", max_tokens if own is None else own)
        yield from _below(f"{path}.retainRatio", _retain_ratio(policy, retain), policy.get("thresholdRatio", threshold))


def _policies(document: Mapping[str, object]) -> list[Mapping[str, object]]:
    raw = document.get("modelPolicies")
    return [item if isinstance(item, Mapping) else {} for item in raw] if isinstance(raw, list | tuple) else []


def _policy_shapes(policies: list[Mapping[str, object]]) -> Iterator[Problem]:
    seen: set[tuple[object, object]] = set()
    for index, policy in enumerate(policies):
        path = f"modelPolicies[{index}]"
        yield from _unknown(policy, POLICY_KEYS, path)
        for name in ("provider", "model"):
            if not policy.get(name):
                yield Problem(f"{path}.{name}", "empty-text", f"{path}.{name} must be a non-empty text")
        yield from _policy_fields(policy, f"{path}.")
        # the harness joins the two with a NUL, so that texts with a NUL inside may collide; so they do here
        route = f"{policy.get('provider')}\0{policy.get('model')}"
        if (route, None) in seen:
            yield duplicate(path, policy)
        seen.add((route, None))


def _policy_fields(fields: Mapping[str, object], prefix: str) -> Iterator[Problem]:
    for name in ("thresholdRatio", "headroomTokens", "retainRatio", "retainTokens"):
        yield from _value(fields, name, prefix)
    if "retainRatio" in fields and "retainTokens" in fields:
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
    elif not (is_integer(value) and value >= _LOWEST[kind]):
        yield not_whole(path, kind, value)


def _pair(fields: Mapping[str, object], prefix: str) -> Iterator[Problem]:
    provider, model = (fields.get(name) for name in ("summarizationProvider", "summarizationModel"))
    for name in ("summarizationProvider", "summarizationModel"):
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


def _retain_ratio(fields: Mapping[str, object], fallback: object) -> object:
    """The ratio that would hold in this scope; None when tokens are set there."""
    return None if "retainTokens" in fields else fields.get("retainRatio", fallback)


def _below(path: str, retain: object, threshold: object) -> Iterator[Problem]:
    if is_number(retain) and is_number(threshold) and retain >= threshold:
        yield not_below(path, retain, threshold)


# ---- findings that both rule sets word in the same way


def not_a_number(path: str, value: object) -> Problem:
    hint = " (a text, not a number: take the quotes away)" if isinstance(value, str) else ""
    return Problem(path, "not-a-number", f"{path} must be a number, not {shown(value)}{hint}")


def not_whole(path: str, kind: str, value: object) -> Problem:
    lowest = _LOWEST.get(kind, 0)
    return Problem(path, "not-a-whole-number", f"{path} must be a whole number, {lowest} or more, not {shown(value)}")


def both_retentions(prefix: str) -> Problem:
    return Problem(
        f"{prefix}retainTokens",
        "both-retentions",
        f"{prefix}retainRatio and {prefix}retainTokens exclude each other; keep one",
    )


def half_pair(prefix: str) -> Problem:
    return Problem(
        f"{prefix}summarizationModel",
        "half-pair",
        f"{prefix}summarizationProvider and {prefix}summarizationModel go together: both empty, or both filled",
    )


def duplicate(path: str, policy: Mapping[str, object]) -> Problem:
    route = f"{policy.get('provider')}/{policy.get('model')}"
    return Problem(path, "duplicate-policy", f"{path}: there is already a policy for {shown(route)}")


def no_output_cap(path: str) -> Problem:
    return Problem(
        path, "no-output-cap", f"{path} must be 1 or more; it follows headroomTokens unless set, so headroom 0 needs an explicit maxTokens"
    )  # fmt: skip


def not_below(path: str, retain: object, threshold: object) -> Problem:
    return Problem(
        path, "retain-not-below-threshold", f"{path} ({shown(retain)}) must be below the resolved thresholdRatio ({shown(threshold)})"
    )  # fmt: skip
