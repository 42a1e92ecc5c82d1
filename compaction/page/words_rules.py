"""The codes of the settings rules, and the names of the settings, in the reader's words.

Rule: issue 5.6: live validation with the server's own rules; COMPACTION §1 and §11. A test walks every code, so that a new
one without words fails; on a page it keeps its English sentence.
"""

from __future__ import annotations

import re
from typing import Final

from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from compaction.core.keys import BY_NAME, MODES
from compaction.core.problem import Problem, shown
from compaction.services.keepable import MAX_CHARS, MAX_DEPTH
from dshweb.ui.templatetags.dshweb import grouped

LABELS: Final[dict[str, Promise]] = {
    "mode": lazy("Strategy"),
    "auto": lazy("Automatic compaction"),
    "thresholdRatio": lazy("Threshold"),
    "headroomTokens": lazy("Headroom"),
    "retainRatio": lazy("Retained tail (share)"),
    "retainTokens": lazy("Retained tail (tokens)"),
    "summarizationProvider": lazy("Summary provider"),
    "summarizationModel": lazy("Summary model"),
    "reasoningEffort": lazy("Reasoning effort"),
    "cachePriority": lazy("Cache priority"),
    "maxTokens": lazy("Longest summary"),
    "compactionRetries": lazy("Further rounds under pressure"),
    "maxOverflowRetries": lazy("Recoveries from overflow"),
    "modelPolicies": lazy("Model policies"),
}
PARTS: Final[dict[str, Promise]] = {
    "provider": lazy("Provider"),
    "model": lazy("Model"),
    "contextWindow": lazy("Context window of the model"),
    "defaultMaxTokens": lazy("Output reserve of the model"),
}
"""Names that stand in paths and among controls without being settings: they are told of the model."""

STRATEGIES: Final[dict[str, Promise]] = {
    "native": lazy("DSH native"),
    "goal": lazy("Goal-enhanced"),
    "handoff": lazy("File hand-off"),
}
_NUMBERED: Final = lazy("%(name)s must be a whole number, %(least)s or more.")
_FLAG: Final = lazy("%(name)s must be on or off.")
_TEXT: Final = lazy("%(name)s must be a text.")
_BELOW: Final = lazy("The retained tail must stay below the trigger; lower it, or raise the threshold.")
PROBLEMS: Final[dict[str, Promise]] = {
    "not-an-object": lazy("%(name)s must be an object: names with values."),
    "not-a-list": lazy("%(name)s must be a list."),
    "not-a-flag": _FLAG,
    "not-a-text": _TEXT,
    "empty-text": lazy("%(name)s must not be empty."),
    "bad-text": lazy("%(name)s holds a character that cannot be kept (NUL or half of a surrogate pair)."),
    "not-a-number": lazy("%(name)s must be a number."),
    "not-a-whole-number": _NUMBERED,
    "not-a-ratio": lazy("%(name)s must be a number above 0, at most 1."),
    "threshold-is-one": lazy("%(name)s must be below 1: at 1 the whole window would have to be full first."),
    "retain-not-below-threshold": _BELOW,
    "both-retentions": lazy(
        "A share and a number of tokens exclude each other: keep one of the two for the retained tail."
    ),
    "half-pair": lazy("Summary provider and summary model go together: both empty, or both filled."),
    "duplicate-policy": lazy("There is already a policy for this provider and model."),
    "no-output-cap": lazy(
        "%(name)s must be 1 or more. It follows the headroom unless set, so headroom 0 needs a value here."
    ),
    "unknown-mode": lazy("%(name)s must be one of: %(supported)s."),
    "unknown-key": lazy("Unknown key %(key)s. Supported keys: %(supported)s."),
    "route-not-allowed": lazy("This model is not among the allowed ones. It is kept as it is."),
    "effort-unknown": lazy(
        "Whether the model takes this effort is unknown. The engine refuses it until that is known."
    ),
    "effort-not-supported": lazy(
        "The model does not take this effort. Choose one of: %(supported)s; or leave it empty."
    ),
    "no-efforts": lazy("The model takes no effort: leave it empty."),
    "too-deep": lazy("A value is nested more than %(deepest)s levels deep."),
    "too-large": lazy("The settings hold more than %(most)s characters."),
    "window-unknown": lazy("The model's context window is unknown."),
    "reserve-unknown": lazy("How many tokens the model may answer with is unknown, so the trigger is too."),
    "bad-window": lazy("No usable trigger: the context window must be a whole number above 0."),
    "bad-reserve": lazy("No usable trigger: the output reserve must be a whole number, 0 or more."),
    "no-message-budget": lazy("No usable trigger: the output reserve takes the whole window."),
    "no-pressure-budget": lazy(
        "No usable trigger: output reserve and headroom take the whole window. Lower the headroom."
    ),
    "bad-ops": lazy("The change cannot be read."),
    "bad-op": lazy("The change cannot be read."),
    "bad-path": lazy("The change names no setting."),
    "no-value": lazy("A value is missing. To go back to the default, unset it."),
    "more-than-one-source": lazy("The settings stand in more than one row of the file."),
    "row-disabled": lazy("The row in the file is disabled."),
    "expression": lazy("%(name)s is computed by DSH; its value is unknown here."),
}

MODE_NAMES: Final = format_lazy("{}, {}, {}", *(STRATEGIES[one] for one in MODES))
_IN_POLICY: Final = re.compile(r"modelPolicies\[\d+\]\.(.+)", re.DOTALL)


def label(key: str) -> str:
    """A setting's name for a reader; a key nobody knows as it is."""
    return str(LABELS.get(key) or PARTS.get(key) or key)


def problem_words(problem: Problem) -> str:
    """What a rule found wrong, for the field it stands at."""
    code = problem.code
    if code == "effort-not-supported" and not problem.supported:
        code = "no-efforts"
    words = PROBLEMS.get(code)
    if words is None:
        return problem.message
    key = _key(problem.path)
    supported = str(MODE_NAMES) if code == "unknown-mode" else ", ".join(problem.supported)
    return str(words) % {
        "name": label(key) if key else _("The document of the settings"),
        "key": shown(key),
        "supported": supported,
        "least": _least(key),
        "deepest": MAX_DEPTH,
        "most": grouped(MAX_CHARS),
    }


def _key(path: str) -> str:
    """The key a path leads to: of `modelPolicies[2].maxTokens` the last, of `modelPolicies[2]` the list."""
    inner = _IN_POLICY.fullmatch(path)
    if inner:
        return inner[1]
    return "modelPolicies" if re.fullmatch(r"modelPolicies\[\d+\]", path) else path


def _least(key: str) -> int:
    known = BY_NAME.get(key)
    return 1 if known is not None and known.kind == "positive" else 0
