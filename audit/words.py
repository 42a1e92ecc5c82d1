"""Names of the record's codes in plain words. Findings are candidates; none says that a summary is wrong, or right."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

# kind of a signal: words, icon, tone of its badge
KINDS: dict[str, tuple[Promise, str, str]] = {
    "unverified": (_("no matching source (candidate)"), "unverified", "amber"),
    "altered": (_("altered"), "altered", "red"),
    "consent": (_("claimed consent without a source (candidate)"), "consent", "amber"),
    "lost": (_("not in the summary"), "lost", "amber"),
    "stale": (_("old value in the summary"), "stale", "red"),
    "verified": (_("only the assistant said so"), "verified", "plain"),
    "missing": (_("keep term not in the summary"), "missing", "amber"),
    "superseded": (_("drop term in the summary"), "superseded", "amber"),
    "scope_lost": (_("scope term not in the summary"), "scope", "amber"),
}

CLASSES: dict[str, Promise] = {
    "uuid": _("UUID"),
    "abs_path": _("absolute path"),
    "file_path": _("relative path"),
    "number_unit": _("number with unit"),
    "user_correction": _("user's correction"),
    "user_rule": _("user's rule"),
    "user_quote": _("quote of the user"),
    "user_consent": _("consent of the user"),
    "hex_hash": _("hash"),
    "ip": _("IP address or host"),
    "port": _("port"),
    "version": _("version"),
    "datetime": _("date or time"),
    "ticket": _("ticket"),
    "identifier": _("identifier"),
}

SOURCES: dict[str, Promise] = {
    "human": _("human"),
    "assistant": _("assistant"),
    "reasoning": _("reasoning"),
    "tool_args": _("tool arguments"),
    "tool_result": _("tool result"),
    "injected": _("injected text"),
}

TIERS: dict[str, Promise] = {
    "A": _("A – about a human's words, or altered"),
    "B": _("B – the assistant wrote it"),
    "C": _("C – only tools stated it; outside the score"),
}

ELSEWHERE: dict[str, Promise] = {
    "state": _("found in the work state at that time (goal, todos, jobs)"),
    "system": _("found in the system prompt"),
    "earlier_log": _("found earlier in the log, outside the span"),
    "suffix": _("the end of the path was kept"),
}

REASONS: dict[str, Promise] = {
    "missing_seq": _("A cited event is not in the log."),
    "not_surface": _("A cited event is not part of the conversation."),
    "checkpoint_without_summary": _("A replaced checkpoint has no summary in the log."),
    "span_mismatch": _("The list of replaced events is not the span it claims to be."),
    "replacement_without_source": _("A replaced event names no original."),
    "damaged_log": _("Part of the log before the summary could not be read."),
    "unknown_format": _("Part of the log is in a format that could not be mapped."),
    "cycle": _("The chain of replaced events runs in a circle."),
}

STAGES: dict[str, Promise] = {
    "summary": _("reading the summary"),
    "leaves": _("reading the originals"),
    "extract": _("finding facts"),
    "fidelity": _("fidelity"),
    "coverage": _("coverage"),
    "compliance": _("compliance"),
}


# what a mark says: words, icon, tone. Of the originals' side first, then of the summary's.
MARKS: dict[str, tuple[Promise, str, str]] = {
    "kept": (_("kept"), "kept", "plain"),
    "lost": (_("not in the summary"), "lost", "amber"),
    "altered": (_("altered"), "altered", "red"),
    "stale": (_("old value"), "stale", "red"),
    "unscored": (_("not scored"), "unscored", "plain"),
    "missing": (_("keep term, missing"), "missing", "amber"),
    "scope_lost": (_("scope term, missing"), "scope", "amber"),
    "verified": (_("has a source"), "kept", "plain"),
    "assistant": (_("assistant only"), "verified", "plain"),
    "unverified": (_("no matching source"), "unverified", "amber"),
    "consent": (_("consent without a source"), "consent", "amber"),
    "superseded": (_("drop term"), "superseded", "amber"),
}

TERM_LISTS: dict[str, Promise] = {
    "keep": _("keep term"),
    "drop": _("drop term"),
    "scope": _("scope term"),
}


def kind_words(kind: str) -> tuple[Any, str, str]:
    """Words, icon and tone of a signal's kind; here and below what has no words is shown as it stands."""
    return KINDS.get(kind, (kind, "unverified", "amber"))


def mark_words(state: str) -> tuple[Any, str, str]:
    """Words, icon and tone of a mark's state."""
    return MARKS.get(state, (state, "unscored", "plain"))


def class_words(cls: str) -> Any:
    """Words of a class of facts or a list of the vocabulary."""
    return CLASSES.get(cls) or TERM_LISTS.get(cls, cls)


def source_words(names: Iterable[str] | None) -> list[Any]:
    return [SOURCES.get(name, name) for name in names or ()]
