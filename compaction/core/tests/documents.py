"""Settings documents for tests: mostly near the rules' edges, right and wrong ones mixed."""

from __future__ import annotations

import random

RATIOS = (0.1, 0.16, 0.3, 0.8, 0.9, 1, 1.0, 0, -0.1, 1.01, 1e-9, "0.8", None, True)
COUNTS = (0, 1, 2, 2000, 65536, 1e300, 2.0, -0.0, -1, 1.5, 2**60, "1", None, False, [])
TEXTS = ("", "p", "deepseek-official", "auto", 3, None, " ")
FLAGS = (True, False, None, "yes", 1)
VALUES: dict[str, tuple[object, ...]] = {
    "thresholdRatio": RATIOS, "retainRatio": RATIOS, "headroomTokens": COUNTS, "retainTokens": COUNTS, "maxTokens": COUNTS,
    "compactionRetries": COUNTS, "maxOverflowRetries": COUNTS, "summarizationProvider": TEXTS, "summarizationModel": TEXTS,
}  # fmt: skip
STRANGE = ("treshold", "toString", "__proto__", "constructor", "valueOf", "mode", "auto", "modelPolicies", "", "0")


def some_document(rng: random.Random) -> object:
    """One document: usually an object with few keys, most of them good."""
    if rng.random() < 0.03:
        return rng.choice((None, [], "text", 3, True, [{}]))
    document = _fields(rng, rng.choice((0.0, 0.1, 0.3)))
    if rng.random() < 0.1:
        document["auto"] = rng.choice(FLAGS)
    if rng.random() < 0.06:
        document[rng.choice(STRANGE)] = rng.choice((1, None, "x"))
    if rng.random() < 0.5:
        document["modelPolicies"] = [_policy(rng) for _ in range(rng.randrange(4))]
    if rng.random() < 0.03:
        document["modelPolicies"] = rng.choice((None, {}, "x", [None], [[]], [3]))
    return document


def _policy(rng: random.Random) -> object:
    wrong = rng.random()
    if wrong < 0.03:
        return rng.choice((None, [], "p/m", {}))
    policy: dict[str, object] = {"provider": rng.choice("pq"), "model": rng.choice(("m", "M", "n", "o", "k"))}
    policy |= _fields(rng, rng.choice((0.0, 0.0, 0.15)))
    if wrong < 0.09:
        policy[rng.choice((*STRANGE, "provider", "model"))] = rng.choice((None, "", 1, True))
    if wrong > 0.97:
        policy.pop(rng.choice(("provider", "model")))
    return policy


GOOD: dict[str, tuple[object, ...]] = {
    "thresholdRatio": (0.1, 0.3, 0.5, 0.8, 0.9, 1), "retainRatio": (0.05, 0.16, 0.3, 0.5),
    "headroomTokens": (0, 1000, 65536, 256000), "retainTokens": (0, 2000, 5500, 1e300),
    "maxTokens": (1, 4000, 65536, 2.0), "compactionRetries": (0, 1, 3), "maxOverflowRetries": (0, 1, -0.0),
}  # fmt: skip


def _fields(rng: random.Random, wrong: float) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, good in GOOD.items():
        if rng.random() < 0.3:
            found[name] = rng.choice(VALUES[name] if rng.random() < wrong else good)
    if "retainTokens" in found and "retainRatio" in found and rng.random() < 0.9:
        found.pop(rng.choice(("retainTokens", "retainRatio")))
    if rng.random() < 0.3:
        pair = rng.choice((("", ""), ("p", "m"), ("p", "m"), *((("p", ""), (None, "m"), ("p", 3)) if wrong else ())))
        found["summarizationProvider"], found["summarizationModel"] = pair
    if wrong and rng.random() < 0.1:
        found.pop("summarizationModel", None)
    keys = list(found)
    rng.shuffle(keys)
    return {key: found[key] for key in keys}
