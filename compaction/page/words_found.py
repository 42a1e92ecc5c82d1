"""What stands in the way of a compaction that helps, and the notes of `inspect`, in words with their numbers and controls.

Rule: issue 5.4 (capacity, fixed prefix, retention against the trigger, no safe range: each names and links its control);
seed «预算/保留»; COMPACTION §18. The numbers come from the formula and the meter, never out of an English sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from compaction import inspecting
from compaction.core.budget import Meter
from compaction.core.diagnose import Diagnostic
from compaction.core.formula import NoSpec, Spec
from compaction.core.keys import ALL_KEYS
from compaction.core.last import NO_END, UNFINISHED_COMMIT
from compaction.core.measure import ATTACHMENTS, REPAIRED
from compaction.core.policy import Policy
from compaction.page.words_rules import PROBLEMS, label
from dshweb.text import js
from dshweb.ui.templatetags.dshweb import grouped


@dataclass(frozen=True, slots=True)
class Link:
    """A control that would change something; `href` "" where it is no field of the page (it is told of the model)."""

    key: str
    label: str
    href: str


NO_CUT: Final = gettext_lazy("No computable safe cut")

NOTES: Final[dict[str, Promise]] = {
    inspecting.COLD: gettext_lazy(
        "Which engine runs this session cannot be proven from its log. The figures use the settings on this page."
    ),
    inspecting.LIVE: gettext_lazy("A DSH process writes this session now. The figures use the settings on this page."),
    inspecting.NOT_MEASURED: gettext_lazy("This session has not been measured yet."),
    inspecting.NO_SNAPSHOT: gettext_lazy(
        "No engine holds settings of this profile yet: the worker of this server takes them when it starts."
    ),
    inspecting.NO_PROFILE: gettext_lazy("There is no profile. The figures use the defaults."),
    inspecting.GROWN: gettext_lazy("The log has grown since it was measured."),
    inspecting.HIDDEN: gettext_lazy("The error is shown to the owner of the session only."),
    ATTACHMENTS: gettext_lazy("Attachments are priced by their structure."),
    REPAIRED: gettext_lazy("A row with broken text is priced as repaired: a few tokens may differ."),
    UNFINISHED_COMMIT: gettext_lazy(
        "The commit did not finish: summary or checkpoint may be kept, the attempt was never closed."
    ),
    NO_END: gettext_lazy("The attempt has no end in the log."),
    "context window unknown": gettext_lazy("The context window of the model is unknown."),
    "measurement failed": gettext_lazy("The session could not be measured."),
    "rows of the log could not be read": gettext_lazy("Rows of the log could not be read."),
    "a node of the surface has no price": gettext_lazy("A part of the history has no price."),
}
_PATTERNS: Final[tuple[tuple[re.Pattern[str], Promise], ...]] = (
    (
        re.compile(r"the log names the agent preset (.*), which brings its own compaction engine", re.DOTALL),
        gettext_lazy("The log names the agent preset %s, which brings its own compaction engine."),
    ),
    (re.compile(r"the settings cannot be used: (.*)", re.DOTALL), gettext_lazy("The settings cannot be used: %s")),
    (
        re.compile(r"context window of (.*) unknown; capacity not checked", re.DOTALL),
        gettext_lazy("The context window of %s is unknown; whether the summary request fits was not checked."),
    ),
    (
        re.compile(r"state left out of the summary request to fit (.*)", re.DOTALL),
        gettext_lazy("State was left out of the summary request so that it fits: %s"),
    ),
    (
        re.compile(r"(\d+): a request header that cannot be read"),
        gettext_lazy("The request header at seq %s cannot be read."),
    ),
    (
        re.compile(r"(\d+): assistant/message outside its own step"),
        gettext_lazy("The answer at seq %s stands outside its own step."),
    ),
)


def note_words(text: str) -> str:
    """A diagnostic of `inspect` that is no finding of `diagnose`; unknown ones as they are."""
    if text in NOTES:
        return str(NOTES[text])
    for pattern, words in _PATTERNS:
        if found := pattern.fullmatch(text):
            return str(words) % found[1]
    return text


def reason_words(reason: str | None, worked_out: Spec | NoSpec | None = None, policy: Policy | None = None) -> str:
    """Why a preview has no range, or that the trigger is not reached; "" when there is nothing to say."""
    if reason is None:
        return ""
    if reason == "below-threshold":
        return _("The trigger is not reached; this is what a compaction would take now.")
    if reason == "no-safe-range":
        return _("No cut before the retained tail leaves each tool call with its result.")
    why = reason.removeprefix("unavailable: ")
    if isinstance(worked_out, NoSpec) and why == worked_out.message:
        return diagnostic_words(Diagnostic(worked_out.code, why), worked_out, None, policy)[0]
    return note_words(why)


def diagnostic_words(
    found: Diagnostic, worked_out: Spec | NoSpec | None, meter: Meter | None, policy: Policy | None
) -> tuple[str, tuple[Link, ...]]:
    """A finding with its numbers, and the controls that would change it. A code without words keeps its English sentence."""
    words: str | None = None
    if isinstance(worked_out, NoSpec) and found.code == worked_out.code:
        words = _no_trigger(worked_out, policy)
    elif found.code in PLAIN:
        words = str(PLAIN[found.code])
    elif found.code in COUNTED and isinstance(worked_out, Spec) and policy is not None:
        words = COUNTED[found.code](worked_out, policy, meter)
    return words or found.text, links(found.controls)


def links(keys: Iterable[str]) -> tuple[Link, ...]:
    """The controls of the page by their keys, in that order."""
    return tuple(Link(key, label(key), f"#id_{key}" if key in ALL_KEYS else "") for key in keys)


PLAIN: Final[dict[str, Promise]] = {
    "auto-off": gettext_lazy("Automatic compaction is off; only /compact works."),
    "unmeasured": gettext_lazy("The session could not be measured; its token numbers are unknown."),
    "no-safe-range": gettext_lazy("The trigger is reached, but there is no safe cut before the retained tail."),
}


def _default_won(at: Spec, policy: Policy, _meter: Meter | None) -> str:
    told = {
        "ratio": js.number(policy.threshold_ratio.value), "headroom": grouped(policy.headroom_tokens.value),
        "trigger": grouped(at.threshold), "reserve": grouped(at.reserve.tokens),
    }  # fmt: skip
    if at.default_overrode == "headroomTokens":
        return _(
            "The headroom set here, %(headroom)s, would allow %(would)s tokens, but the default threshold %(ratio)s"
            " lowers the trigger to %(trigger)s."
        ) % {**told, "would": grouped(at.pressure_budget)}
    return _(
        "The threshold set here, %(ratio)s, would allow %(would)s tokens, but the default headroom %(headroom)s with the"
        " output reserve %(reserve)s lowers the trigger to %(trigger)s."
    ) % {**told, "would": grouped(int(at.ratio_term))}


def _fixed(at: Spec, _policy: Policy, meter: Meter | None) -> str | None:
    if meter is None or meter.fixed is None:
        return None
    return _(
        "System prompt and tools alone take %(fixed)s tokens; no compaction gets below the trigger of %(trigger)s."
    ) % {"fixed": grouped(meter.fixed), "trigger": grouped(at.threshold)}


def _fixed_and_retained(at: Spec, _policy: Policy, meter: Meter | None) -> str | None:
    if meter is None or meter.fixed is None:
        return None
    return _(
        "The fixed prefix of %(fixed)s tokens and the retained tail of %(retain)s reach the trigger of %(trigger)s by themselves."
    ) % {"fixed": grouped(meter.fixed), "retain": grouped(at.retain), "trigger": grouped(at.threshold)}


def _refills(at: Spec, policy: Policy, _meter: Meter | None) -> str:
    return _(
        "With a summary of full length, %(longest)s tokens, the context would stand at the trigger of %(trigger)s again."
    ) % {"longest": grouped(policy.max_tokens.value), "trigger": grouped(at.threshold)}


COUNTED: Final[dict[str, Callable[[Spec, Policy, Meter | None], str | None]]] = {
    "default-won": _default_won,
    "fixed-prefix": _fixed,
    "fixed-plus-retained": _fixed_and_retained,
    "summary-may-refill": _refills,
}


def _no_trigger(at: NoSpec, policy: Policy | None) -> str | None:
    """Why there is no trigger, with the terms that could be worked out."""
    terms = {name: grouped(int(value)) for name, value in at.terms}
    if at.code == "no-message-budget" and "messageBudget" in terms:
        return _(
            "No usable trigger: the output reserve takes the whole window; window less reserve is %(left)s tokens."
        ) % {"left": terms["messageBudget"]}
    if at.code == "no-pressure-budget" and "pressureBudget" in terms and policy is not None:
        return _(
            "No usable trigger: of the window the output reserve leaves %(left)s tokens, and the headroom takes %(headroom)s."
        ) % {"left": terms["messageBudget"], "headroom": grouped(policy.headroom_tokens.value)}
    if at.code == "retain-not-below-threshold" and {"retain", "threshold"} <= terms.keys():
        return _("No usable trigger: the retained tail of %(retain)s tokens is not below the trigger of %(trigger)s.") % {
            "retain": terms["retain"], "trigger": terms["threshold"],
        }  # fmt: skip
    words = PROBLEMS.get(at.code)
    return None if words is None else str(words)
