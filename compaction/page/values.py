"""Settings in words: what a key is called, and what a stored value says, for tables that hold two of them side by side."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from compaction.core.document import changes
from compaction.core.keys import BY_NAME, RETENTION, Document
from compaction.core.numbers import is_integer, is_number
from compaction.page import words
from dshweb.text import js
from dshweb.text.lines import cut, one_line
from dshweb.ui.templatetags.dshweb import tokens

_TOKENS = ("headroomTokens", "retainTokens", "maxTokens")
_ROUTE = ("provider", "model")
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Pair:
    """One setting on two sides. `had`, `has`: whether it is set there; when not, its default holds."""

    key: str
    label: str
    before: str
    after: str
    had: bool = True
    has: bool = True


def label(key: str) -> str:
    """What people call a setting; a key that nobody knows stands as it is."""
    return one_line(words.label(key))


def labels(keys: Iterable[str]) -> str:
    return ", ".join(label(key) for key in keys)


def pairs(before: Document, after: Document) -> list[Pair]:
    """The settings that differ, in the order of the keys."""
    order = {key: place for place, key in enumerate(BY_NAME)}
    found = sorted(changes(before, after), key=lambda one: order.get(one.key, len(order)))
    return [
        Pair(one.key, label(one.key), stands(one.key, before), stands(one.key, after), one.had, one.has)
        for one in found
    ]


def stands(key: str, document: Document) -> str:
    """What a document says of a key, or what holds where it says nothing."""
    if key in document:
        return said(key, document[key])
    if key in RETENTION and any(other in document for other in RETENTION):
        return _("not set")
    if key == "maxTokens":
        return _("default (as large as the headroom)")
    if key == "modelPolicies":
        return _("none")
    value = BY_NAME[key].default if key in BY_NAME else None
    return _("not set") if value is None else _("default (%(value)s)") % {"value": said(key, value)}


def said(key: str, value: Any) -> str:
    """A stored value in words: with its unit, one line, at most 300 characters."""
    if isinstance(value, bool):
        return _("on") if value else _("off")
    if key == "mode" and isinstance(value, str) and value in words.STRATEGIES:
        return str(words.STRATEGIES[value])
    if key in _TOKENS and is_integer(value) and isinstance(value, int):
        return tokens(value)
    if is_number(value):
        return js.number(value)
    if value == "":
        return _("the model's own") if key == "reasoningEffort" else _("as the session")
    text = value if isinstance(value, str) else _policies(value) if key == "modelPolicies" else js.stringify(value)
    shown, hidden = cut(one_line(text), _LONGEST)
    return f"{shown}…" if hidden else shown


def policies(value: Any) -> list[tuple[str, str]]:
    """Each policy of `modelPolicies`: `deepseek/deepseek-v4`, and `Headroom 4 096 tokens, Threshold 0.7`. Empty: it is no such list."""
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        return []
    return [
        (
            one_line("/".join(str(one.get(name)) for name in _ROUTE)),
            ", ".join(f"{label(key)} {said(key, own)}" for key, own in one.items() if key not in _ROUTE),
        )
        for one in value
    ]


def _policies(value: Any) -> str:
    """In one line; as JSON where it is no list of policies."""
    if value == []:
        return _("none")
    made = [f"{route}: {own}" if own else route for route, own in policies(value)]
    return "; ".join(made) or js.stringify(value)
