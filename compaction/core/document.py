"""The saved settings document: changes as set/unset operations, and comparison with what an engine holds.

Rule: INTEGRATION (b) «Settings service» (ops in order, all or nothing), seed «保存与重载时应用», COMPACTION §11 and §18.
Retention and the summary pair cannot end up half changed: saving one form removes the other, the pair moves together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from compaction.core.keys import ALL_KEYS, PAIR, RETENTION, Document
from compaction.core.numbers import double, is_number
from compaction.core.policy import Settings, overrides_shown, resolve
from compaction.core.problem import InvalidSettings, Problem, shown, unknown_key

MAX_OPS = 100


@dataclass(frozen=True, slots=True)
class Op:
    """One change: a top-level key is set to a value, or unset (back to its default; unsetting nothing is no error)."""

    op: Literal["set", "unset"]
    key: str
    value: object = None


@dataclass(frozen=True, slots=True)
class Change:
    """A key whose stored value is another one now. `before`/`after` None with `had`/`has` False: not stored."""

    key: str
    before: object
    after: object
    had: bool
    has: bool


@dataclass(frozen=True, slots=True)
class Mutation:
    """The document after all operations, and what became different (empty: nothing did)."""

    document: dict[str, object]
    changes: tuple[Change, ...]


def parse_ops(raw: object) -> tuple[Op, ...]:
    """Operations as they arrive: `[{"op": "set", "path": "auto", "value": true}, {"op": "unset", "path": ["auto"]}]`.

    Raises InvalidSettings naming the operation that is wrong.
    """
    if not isinstance(raw, list | tuple) or not 0 < len(raw) <= MAX_OPS:
        raise _refuse("ops", "bad-ops", f"ops must be a list of 1 to {MAX_OPS} operations")
    return tuple(_parse_op(item, f"ops[{index}]") for index, item in enumerate(raw))


def _parse_op(item: object, where: str) -> Op:
    if not isinstance(item, Mapping) or item.get("op") not in ("set", "unset"):
        raise _refuse(where, "bad-op", f"{where} must be an object with op «set» or «unset»")
    if extra := set(item) - {"op", "path", "value"}:
        raise _refuse(where, "bad-op", f"{where}: unknown member {shown(min(map(str, extra)))}")
    path = item.get("path")
    if isinstance(path, list | tuple) and len(path) == 1:
        path = path[0]
    if not isinstance(path, str):
        raise _refuse(where, "bad-path", f"{where}.path must name one top-level key")
    if path not in ALL_KEYS:
        raise InvalidSettings((unknown_key("", path, ALL_KEYS),))
    if item["op"] == "unset":
        if "value" in item:
            raise _refuse(where, "bad-op", f"{where}: unset takes no value")
        return Op("unset", path)
    if item.get("value") is None:
        raise _refuse(where, "no-value", f"{where}: set needs a value; to go back to the default use unset")
    return Op("set", path, item["value"])


def mutate(document: Document, ops: Iterable[Op]) -> Mutation:
    """Apply operations in order, all or nothing; the given document stays as it is.

    Setting one retention form unsets the other; setting both in one call, or only half of the summary pair, raises
    InvalidSettings. Values are not judged here: ask `rules_form.problems` about the result before storing it.
    """
    ops = tuple(ops)
    _check(ops)
    result = dict(document)
    for op in ops:
        if op.op == "unset":
            result.pop(op.key, None)
            continue
        result[op.key] = op.value
        for other in RETENTION:
            if op.key in RETENTION and other != op.key:
                result.pop(other, None)
    return Mutation(result, changes(document, result))


def changes(before: Document, after: Document) -> tuple[Change, ...]:
    """What is stored differently, in the order of the keys of `before`, then of those that are new."""
    return tuple(
        Change(key, before.get(key), after.get(key), key in before, key in after)
        for key in dict.fromkeys((*before, *after))
        if (key in before) != (key in after) or not same(before.get(key), after.get(key))
    )


def ops_between(before: Document, after: Document) -> tuple[Op, ...]:
    """The operations that make `after` of `before`, unsets first; empty when nothing differs.

    Both keys of the summary pair where one differs. Raises InvalidSettings where no operations lead there: half a pair.
    """
    keys = dict.fromkeys(change.key for change in changes(before, after))
    if any(key in keys for key in PAIR):
        keys |= dict.fromkeys(PAIR)
    ops = [Op("set", key, after[key]) if key in after else Op("unset", key) for key in keys]
    ops.sort(key=lambda op: op.op == "set")
    _check(ops)
    return tuple(ops)


def _check(ops: Sequence[Op]) -> None:
    for op in ops:
        if op.key not in ALL_KEYS:
            raise InvalidSettings((unknown_key("", op.key, ALL_KEYS),))
    setting = {op.key for op in ops if op.op == "set"}
    if setting.issuperset(RETENTION):
        raise _refuse("retainTokens", "both-retentions", "set retainRatio or retainTokens, not both in one change")
    last = {op.key: op.op for op in ops}
    if (PAIR[0] in last) != (PAIR[1] in last) or last.get(PAIR[0]) != last.get(PAIR[1]):
        raise _refuse(PAIR[1], "half-pair", f"{PAIR[0]} and {PAIR[1]} are changed together in one call")


def normalised(settings: Settings) -> dict[str, object]:
    """The body of `activeConfig` (COMPACTION §18): effective values, one retention form, no credentials.

    `modelPolicies` as the harness holds them: the stored partial entries, `maxTokens` filled in where it follows headroom.
    """
    policy = settings.policy
    retention = "retainTokens" if policy.retention.form == "tokens" else "retainRatio"
    return {
        "mode": settings.mode.value,
        "auto": settings.auto.value,
        "thresholdRatio": policy.threshold_ratio.value,
        "headroomTokens": policy.headroom_tokens.value,
        retention: policy.retention.value,
        "summarizationProvider": policy.summarization_provider.value,
        "summarizationModel": policy.summarization_model.value,
        "reasoningEffort": settings.reasoning_effort.value,
        "cachePriority": settings.cache_priority.value,
        "maxTokens": policy.max_tokens.value,
        "compactionRetries": policy.compaction_retries.value,
        "maxOverflowRetries": policy.max_overflow_retries.value,
        "modelPolicies": overrides_shown(settings),
    }


def requires_reload(stored: Document, active: Mapping[str, object]) -> bool:
    """Whether an engine holding `active` (a `normalised` snapshot) would act differently after a reload.

    True as well when the stored document no longer resolves. Key order, the order of model policies, 1 against 1.0 and
    spelling a default out make no difference.
    """
    try:
        wanted = normalised(resolve(stored))
    except InvalidSettings:
        return True
    return not same(_sorted(wanted), _sorted(active))


def _sorted(body: Mapping[str, object]) -> dict[str, object]:
    policies = body.get("modelPolicies")
    if not isinstance(policies, list | tuple) or not all(isinstance(item, Mapping) for item in policies):
        return dict(body)
    ordered = sorted(policies, key=lambda item: (str(item.get("provider")), str(item.get("model"))))
    return {**body, "modelPolicies": ordered}


def same(left: object, right: object) -> bool:
    """JSON equality: true is not 1, numbers are doubles, members in any order, list items in theirs."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if is_number(left) and is_number(right):
        return double(left) == double(right)  # beyond 2^53 the harness cannot tell neighbours apart
    return left == right


def _refuse(path: str, code: str, message: str) -> InvalidSettings:
    return InvalidSettings((Problem(path, code, message),))
