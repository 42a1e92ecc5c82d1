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
from django.utils.translation import gettext_lazy

from compaction.core.keys import BY_NAME, MODES
from compaction.core.problem import Problem, shown
from compaction.services.keepable import MAX_CHARS, MAX_DEPTH
from dshweb.ui.templatetags.dshweb import grouped

LABELS: Final[dict[str, Promise]] = {
    "mode": gettext_lazy("Strategy"),
    "auto": gettext_lazy("Automatic compaction"),
    "thresholdRatio": gettext_lazy("Threshold"),
    "headroomTokens": gettext_lazy("Headroom"),
    "retainRatio": gettext_lazy("Retained tail (share)"),
    "retainTokens": gettext_lazy("Retained tail (tokens)"),
    "summarizationProvider": gettext_lazy("Summary provider"),
    "summarizationModel": gettext_lazy("Summary model"),
    "reasoningEffort": gettext_lazy("Reasoning effort"),
    "cachePriority": gettext_lazy("Cache priority"),
    "maxTokens": gettext_lazy("Longest summary"),
    "compactionRetries": gettext_lazy("Further rounds under pressure"),
    "maxOverflowRetries": gettext_lazy("Recoveries from overflow"),
    "modelPolicies": gettext_lazy("Model policies"),
}
PARTS: Final[dict[str, Promise]] = {
    "provider": gettext_lazy("Provider"),
    "model": gettext_lazy("Model"),
    "contextWindow": gettext_lazy("Context window of the model"),
    "defaultMaxTokens": gettext_lazy("Output reserve of the model"),
}
"""Names that stand in paths and among controls without being settings: they are told of the model."""

STRATEGIES: Final[dict[str, Promise]] = {
    "native": gettext_lazy("DSH native"),
    "goal": gettext_lazy("Goal-enhanced"),
    "handoff": gettext_lazy("File hand-off"),
}
_NUMBERED: Final = gettext_lazy("%(name)s must be a whole number, %(least)s or more.")
_FLAG: Final = gettext_lazy("%(name)s must be on or off.")
_TEXT: Final = gettext_lazy("%(name)s must be a text.")
_BELOW: Final = gettext_lazy("The retained tail must stay below the trigger; lower it, or raise the threshold.")
PROBLEMS: Final[dict[str, Promise]] = {
    "not-an-object": gettext_lazy("%(name)s must be an object: names with values."),
    "not-a-list": gettext_lazy("%(name)s must be a list."),
    "not-a-flag": _FLAG,
    "not-a-text": _TEXT,
    "empty-text": gettext_lazy("%(name)s must not be empty."),
    "bad-text": gettext_lazy("%(name)s holds a character that cannot be kept (NUL or half of a surrogate pair)."),
    "not-a-number": gettext_lazy("%(name)s must be a number."),
    "not-a-whole-number": _NUMBERED,
    "not-a-ratio": gettext_lazy("%(name)s must be a number between 0 and 1."),
    "threshold-is-one": gettext_lazy("%(name)s must be below 1: at 1 the whole window would have to be full first."),
    "retain-not-below-threshold": _BELOW,
    "both-retentions": gettext_lazy(
        "A share and a number of tokens exclude each other: keep one of the two for the retained tail."
    ),
    "half-pair": gettext_lazy("Summary provider and summary model go together: both empty, or both filled."),
    "duplicate-policy": gettext_lazy("There is already a policy for this provider and model."),
    "no-output-cap": gettext_lazy(
        "%(name)s must be 1 or more. It follows the headroom unless set, so headroom 0 needs a value here."
    ),
    "unknown-mode": gettext_lazy("%(name)s must be one of: %(supported)s."),
    "unknown-key": gettext_lazy("Unknown key %(key)s. Supported keys: %(supported)s."),
    "route-not-allowed": gettext_lazy("This model is not among the allowed ones. It is kept as it is."),
    "effort-unknown": gettext_lazy(
        "Whether the model takes this effort is unknown. The engine refuses it until that is known."
    ),
    "effort-not-supported": gettext_lazy(
        "The model does not take this effort. Choose one of: %(supported)s; or leave it empty."
    ),
    "no-efforts": gettext_lazy("The model takes no effort: leave it empty."),
    "too-deep": gettext_lazy("A value is nested more than %(deepest)s levels deep."),
    "too-large": gettext_lazy("The settings hold more than %(most)s characters."),
    "window-unknown": gettext_lazy("The model's context window is unknown."),
    "reserve-unknown": gettext_lazy("How many tokens the model may answer with is unknown, so the trigger is too."),
    "bad-window": gettext_lazy("No usable trigger: the context window must be a whole number above 0."),
    "bad-reserve": gettext_lazy("No usable trigger: the output reserve must be a whole number, 0 or more."),
    "no-message-budget": gettext_lazy("No usable trigger: the output reserve takes the whole window."),
    "no-pressure-budget": gettext_lazy(
        "No usable trigger: output reserve and headroom take the whole window. Lower the headroom."
    ),
    "bad-ops": gettext_lazy("The change cannot be read."),
    "bad-op": gettext_lazy("The change cannot be read."),
    "bad-path": gettext_lazy("The change names no setting."),
    "no-value": gettext_lazy("A value is missing. To go back to the default, unset it."),
    "more-than-one-source": gettext_lazy("The settings stand in more than one row of the file."),
    "row-disabled": gettext_lazy("The row in the file is disabled."),
    "expression": gettext_lazy("%(name)s is computed by DSH; its value is unknown here."),
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
