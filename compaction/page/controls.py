"""What each control of the settings page shows: its value, where that comes from, and what the rules say of it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from compaction.core.document import normalised
from compaction.core.keys import (
    ALL_KEYS,
    BY_NAME,
    DEFAULT_HEADROOM_TOKENS,
    MODES,
    PAIR,
    RETENTION,
    Document,
)
from compaction.core.numbers import is_integer
from compaction.core.policy import resolve
from compaction.core.problem import Problem
from compaction.core.rules_routes import Route
from compaction.page.draft import CHOSEN, route_text, text_of
from compaction.page.words import LABELS, STRATEGIES, problem_words
from compaction.services.catalogue import Routes
from dshweb.ui.templatetags.dshweb import short, tokens


@dataclass(frozen=True, slots=True)
class Control:
    """One setting. `text` is what the field holds, `default` what an empty one means."""

    key: str
    label: Any
    text: str
    default: str
    is_set: bool
    changed: bool
    errors: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def stands(self) -> str:
        """What holds: the value, or the default in its place."""
        return self.text or self.default

    @property
    def told(self) -> str:
        """What holds as a number of tokens; as it was typed where it is none."""
        return tokens(int(self.stands)) if re.fullmatch("[0-9]{1,16}", self.stands) else short(self.stands, 20)

    @property
    def on(self) -> bool:
        return self.text == "on"


@dataclass(frozen=True, slots=True)
class Option:
    """One entry of a list to choose from. `marked`: it is kept though it is not among what is allowed."""

    value: str
    words: str
    chosen: bool
    marked: bool = False


def controls(document: Document, saved: Document, found: Iterable[Problem]) -> dict[str, Control]:
    """One for each key."""
    defaults, told = _defaults(document), list(found)
    made = {}
    for key in ALL_KEYS:
        own = [one for one in told if one.path == key]
        text = text_of(document[key]) if key in document else (defaults[key] if key in CHOSEN else "")
        made[key] = Control(
            key=key,
            label=LABELS[key],
            text=text,
            default=defaults[key],
            is_set=key in document,
            changed=(key in document) != (key in saved) or text_of(document.get(key)) != text_of(saved.get(key)),
            errors=tuple(problem_words(one) for one in own if one.severity == "error"),
            warnings=tuple(problem_words(one) for one in own if one.severity == "warning"),
        )
    return made


def others(found: Iterable[Problem]) -> list[str]:
    """What the rules say of no single control: entries of `modelPolicies` above all."""
    return [
        f"{one.path}: {problem_words(one)}" if one.path else problem_words(one)
        for one in found
        if one.path not in ALL_KEYS
    ]


def modes(chosen: str) -> list[dict[str, Any]]:
    """The cards of the strategies."""
    default = BY_NAME["mode"].default
    return [
        {"value": one, "name": STRATEGIES[one], "checked": one == chosen, "product_default": one == default}
        for one in MODES
    ]


def retain_form(document: Document) -> str:
    return "tokens" if RETENTION[1] in document else "ratio"


def routes(document: Document, known: Routes) -> list[Option]:
    """The models that may write summaries, and the one that is set though it is none of them."""
    chosen = route_text(document)
    allowed = [
        Option(text, "/".join(name), text == chosen) for name in known.allowed() if (text := text_of(list(name)))
    ]
    if chosen and not any(one.chosen for one in allowed) and all(document.get(key) for key in PAIR):
        allowed.append(Option(chosen, "/".join(str(document[key]) for key in PAIR), chosen=True, marked=True))
    return allowed


def typed_route(document: Document, options: Iterable[Option]) -> bool:
    """Whether the pair stands in its two fields of text: it is half, or whatever is typed there."""
    return bool(route_text(document)) and not any(one.chosen for one in options)


def efforts(document: Document, known: Routes) -> list[Option] | None:
    """The efforts of the chosen model with the one that is set; None: unknown, so it is typed."""
    route = _route(document, known)
    if route is None or route.efforts is None:
        return None
    now = text_of(document.get("reasoningEffort"))
    made = [Option(one, one, one == now) for one in route.efforts]
    return [*made, Option(now, now, chosen=True, marked=True)] if now and now not in route.efforts else made


def _route(document: Document, known: Routes) -> Route | None:
    pair = [document.get(key) for key in PAIR]
    if not all(isinstance(one, str) and one for one in pair):
        return None
    provider, model = map(str, pair)
    return known(provider, model)


def _defaults(document: Document) -> dict[str, str]:
    """What each key would be without being set. `maxTokens` follows the headroom, as far as that is a number."""
    plain = normalised(resolve({}))
    headroom = document.get("headroomTokens", DEFAULT_HEADROOM_TOKENS)
    plain["maxTokens"] = headroom if is_integer(headroom) and headroom > 0 else None
    return {key: text_of(plain.get(key)) for key in ALL_KEYS}
