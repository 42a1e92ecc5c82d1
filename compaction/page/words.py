"""Everything the settings page says in words: what is about the state beside the settings here, the rules' codes in
`words_rules`, findings and notes in `words_found`; all by this one name.

Rule: issue 5.2 (blockers in words, "waiting for the user" among them), COMPACTION §17 and §18, DECISIONS 17 and 18.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from compaction.page.words_found import NO_CUT, Link, diagnostic_words, links, note_words, reason_words
from compaction.page.words_rules import LABELS, PROBLEMS, STRATEGIES, label, problem_words

__all__ = [
    "BLOCKERS", "CONTINUATIONS", "LABELS", "NO_CUT", "ORIGINS", "OWNERS", "PROBLEMS", "RESERVE_ORIGINS", "STATUSES",
    "STRATEGIES", "TRIGGERS", "WINNERS", "Link", "blocker_words", "diagnostic_words", "label", "links", "note_words",
    "origin_words", "problem_words", "reason_words", "worded",
]  # fmt: skip

ORIGINS: Final[dict[str, Promise]] = {
    "set": gettext_lazy("set"),
    "default": gettext_lazy("default"),
    "headroomTokens": gettext_lazy("follows the headroom"),
}
RESERVE_ORIGINS: Final[dict[str, Promise]] = {
    "request": gettext_lazy("asked for by the last request"),
    "adapter": gettext_lazy("the adapter's default for this model"),
    "none-declared": gettext_lazy("neither the request nor the adapter reserves any"),
    "unknown": gettext_lazy("nobody said how much the model may answer with"),
}
WINNERS: Final[dict[str, Promise]] = {
    "ratio": gettext_lazy("The threshold won: its share of the window is the smaller bound."),
    "headroom": gettext_lazy("The headroom won: what reserve and headroom leave is the smaller bound."),
    "both": gettext_lazy("Both bounds are the same."),
}
TRIGGERS: Final[dict[str, Promise]] = {"manual": gettext_lazy("manual"), "automatic": gettext_lazy("automatic")}
STATUSES: Final[dict[str, tuple[Promise, str, str]]] = {
    "running": (gettext_lazy("running"), "info", "plain"),
    "completed": (gettext_lazy("completed"), "ok", "plain"),
    "failed": (gettext_lazy("failed"), "no", "red"),
    "cancelled": (gettext_lazy("cancelled"), "no", "plain"),
    "persistence-error": (gettext_lazy("compacted, but not saved to disk"), "warn", "red"),
}
"""Words, icon, tone of the badge."""
CONTINUATIONS: Final[dict[str, Promise]] = {
    "scheduled": gettext_lazy("one follow-up message was queued in the same session"),
    "skipped": gettext_lazy("no follow-up was queued"),
}
BLOCKERS: Final[dict[str, Promise]] = {
    "agent-busy": gettext_lazy("the agent is working"),
    "queued-input": gettext_lazy("input is queued"),
    "goal-paused": gettext_lazy("the goal is paused"),
    "goal-blocked": gettext_lazy("the goal is blocked"),
    "pending-question": gettext_lazy("waiting for the user"),
    "running-job": gettext_lazy("a job is running"),
    "running-child": gettext_lazy("a child agent is running"),
    "cancelled": gettext_lazy("it was cancelled"),
    "queue-failed": gettext_lazy("the message could not be queued"),
    "no-live-agent": gettext_lazy("no live agent can be reached from here"),
}
OWNERS: Final[dict[str, Promise]] = {
    "host": gettext_lazy("the host's engine"),
    "better-compact-preset": gettext_lazy("the engine of the preset Better Compact"),
    "foreign-preset": gettext_lazy("another preset's own engine"),
    "unknown": gettext_lazy("unknown"),
}


def origin_words(origin: str, scope: str = "profile") -> str:
    """Where a value came from."""
    if scope == "policy" and origin == "set":
        return _("set in the policy of this model")
    return worded(ORIGINS, origin)


def blocker_words(blockers: object) -> list[str]:
    """Why nothing was queued after a hand-off, in the order given."""
    return [worded(BLOCKERS, str(one)) for one in blockers] if isinstance(blockers, list | tuple) else []


def worded(table: Mapping[str, Promise], name: str) -> str:
    """A name's words; a name nobody knows as it is."""
    return str(table.get(name, name))
