"""Values of the statement extractors: what a human demanded, and what a summary says a human said.

Rules: COMPACTION-AUDIT §4 (user_correction), AUDIT-REFINEMENTS §2.5. Offsets are code points in the text given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

NONE = "∅"
MAX_TEXT = 1 << 20
"""Code points of one text that are looked at; the rest is left out, as for facts (§8, performance rule)."""
MAX_STATEMENTS = 500
"""Corrections, rules or claims taken from one text: no person types more in one message, a pasted file may."""

MAX_CUES = 500
"""Cue words of one text that are looked at: more than a person types in one message; bounds the work on pasted text."""
MAX_CUES_PER_SENTENCE = 16
"""A sentence (at most 400 code points) with more cue words than this is no prose and is left out."""
MAX_LINES = 10_000
"""Lines of one summary that are looked at; `unread` says when there are more."""

Polarity = Literal["negative", "positive"]
Kept = Literal["kept", "lost", "stale"]
Basis = Literal["literal", "wording", "soft", "told", "other"]
ClaimKind = Literal["user_rule", "user_quote", "user_consent"]


@dataclass(frozen=True, slots=True)
class Correction:
    """One human correction `old→new`; `text` is the clause(s) it was read from.

    `scored` is False when only a cue was found (`不对`): listed, never lost. `attribute` is the thing that got a new
    value (`批大小`) when the sentence does not name the old one; `resolve_old_values` then fills `old_values`.
    """

    old: str | None
    new: str | None
    canon: str
    text: str
    start: int
    end: int
    scored: bool
    attribute: str | None = None
    old_values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """One human prohibition (`negative`) or requirement (`positive`).

    `strong` terms are identifiers, facts and quoted words; `weak` ones are stems of other words and Han bigrams.
    """

    text: str
    start: int
    end: int
    polarity: Polarity
    strong: tuple[str, ...]
    weak: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """One line of a summary (or the quoted part of it) that says what a human said, allowed or ruled.

    `basis` says how a user_quote is compared: `literal` (quoted words), `wording` (an unquoted line under "all user
    messages": nearly all of its words in one message), `soft` (an unquoted line under "user requests": most of them),
    `told` (indirect speech: a clearly low share of its content in all messages is a candidate). A user_consent of
    basis `other` tells of someone else's consent.
    """

    kind: ClaimKind
    text: str
    start: int
    end: int
    basis: Basis = "literal"
