"""The form of the settings page and the document it stands for: both ways, without judging.

Rule: seed «Visual page», issue 5.6. An empty field is the default; a field that was not sent is unchanged; what is no number stays
text, so that the rules of the settings say what is wrong with it. Nothing the form does not show (`modelPolicies`) is touched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.http import QueryDict

from compaction.core.document import changes, mutate, ops_between
from compaction.core.keys import ALL_KEYS, BY_NAME, PAIR, RETENTION, Document
from dshweb.text import js
from dshweb.text.lines import is_storable

FLAGS: Final = ("auto", "cachePriority")
CHOSEN: Final = ("mode", *FLAGS)
"""Keys whose control always holds a value; whether that is set or the default is said beside it (`plain`)."""
NUMBERS: Final = ("thresholdRatio", "headroomTokens", "maxTokens", "compactionRetries", "maxOverflowRetries")
OTHER: Final = "other"

_GAPS = re.compile(r"[\s\u00a0\u2009\u202f_]")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")
_MOST = 40


@dataclass(frozen=True, slots=True)
class Draft:
    """A document begun on a revision. `base`: the saved document of that revision; None: there never was such a one."""

    revision: int
    base: Document | None
    document: dict[str, Any]

    @property
    def plain(self) -> list[str]:
        """The chosen keys whose default means "not set": where nothing is saved, coming back to the default changes nothing."""
        return [
            key
            for key in CHOSEN
            if key not in self.document or (key not in (self.base or {}) and self.document[key] != BY_NAME[key].default)
        ]

    @property
    def changed(self) -> tuple[str, ...]:
        """The keys that a save would change."""
        return tuple(one.key for one in changes(self.base or {}, self.document))


def value_of(text: str) -> int | float | str:
    """What a field of numbers holds: `65 536` → 65536, `0.8` → 0.8; anything else stays the text it is."""
    bare = _GAPS.sub("", text)
    if len(bare) > _MOST or not bare.isascii() or not _NUMBER.fullmatch(bare):
        return text.strip()
    return int(bare) if bare.lstrip("+-").isdigit() else float(bare)


def text_of(value: object) -> str:
    """A stored value as its field shows it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int | float):
        return js.number(value)
    return value if isinstance(value, str) else js.stringify(value)


def read(sent: QueryDict, base: Document) -> dict[str, Any]:
    """The document that a sent form stands for, begun on `base`."""
    document = dict(base)
    plain = set(sent.getlist("plain"))
    for key in CHOSEN:
        if (text := sent.get(key)) is not None:
            value: object = {"on": True, "off": False}.get(text, text) if key in FLAGS else text
            _put(document, key, None if key in plain and value == BY_NAME[key].default else value)
    for key in NUMBERS:
        _number(document, base, sent, key)
    _retention(document, base, sent)
    _route(document, sent)
    effort = sent.get("reasoningEffort")
    if effort is not None and _one_line(effort) != _one_line(text_of(base.get("reasoningEffort"))):
        _put(document, "reasoningEffort", effort.strip() or None)
    if (key := sent.get("unset", "")) in set(ALL_KEYS) - {"modelPolicies"}:
        for one in next((group for group in (PAIR, RETENTION) if key in group), (key,)):
            document.pop(one, None)
    return {key: document[key] for key in ALL_KEYS if key in document}


def rebased(draft: Draft, newest: Document) -> dict[str, Any]:
    """My changes on top of what is saved now; what I did not touch is as it is there. Raises InvalidSettings: half a pair."""
    base = newest if draft.base is None else draft.base
    made = mutate(newest, ops_between(base, draft.document)).document
    return {key: made[key] for key in ALL_KEYS if key in made}


def route_text(document: Document) -> str:
    """What the control of the summary's model holds: "" follows the session, else the pair as JSON."""
    pair = [str(document.get(key, "")) for key in PAIR]
    return js.stringify(pair) if any(pair) else ""


def _put(document: dict[str, Any], key: str, value: object) -> None:
    if value is None:
        document.pop(key, None)
    else:
        document[key] = value


def _one_line(text: str) -> str:
    """A text as a field of one line gives it back."""
    return re.sub(r"[\r\n]", "", text).strip()


def _number(document: dict[str, Any], base: Mapping[str, object], sent: QueryDict, key: str) -> None:
    """An untouched field keeps the very value it was made of."""
    if (text := sent.get(key)) is None:
        return
    if not text.strip():
        document.pop(key, None)
    elif text != text_of(base.get(key)):
        document[key] = value_of(text)


def _retention(document: dict[str, Any], base: Mapping[str, object], sent: QueryDict) -> None:
    """One of two forms. A number of tokens has no default: an empty one is sent on as it is, and refused."""
    form = sent.get("retainForm")
    if form not in ("ratio", "tokens"):
        return
    key, other = RETENTION if form == "ratio" else RETENTION[::-1]
    document.pop(other, None)
    _number(document, base, sent, key)
    if form == "tokens" and key not in document:
        document[key] = ""


def _route(document: dict[str, Any], sent: QueryDict) -> None:
    if (route := sent.get("route")) is None:
        return
    pair = [sent.get(key, "").strip() for key in PAIR] if route == OTHER else _pair(route)
    if not any(pair) and not any(document.get(key) for key in PAIR):
        return  # it followed the session before, in whatever way it said so
    for key, text in zip(PAIR, pair, strict=True):
        _put(document, key, text or None)


def _pair(text: str) -> list[str]:
    if not text:
        return ["", ""]
    try:
        pair = json.loads(text)
    except (ValueError, RecursionError):
        pair = None
    good = (
        isinstance(pair, list)
        and len(pair) == len(PAIR)
        and all(isinstance(one, str) and is_storable(one) for one in pair)
    )
    return pair if good else [text, ""]  # half a pair: the rules refuse it and name it
