"""Questions to the person that nobody has answered yet. Rule: STATE-EVENTS §3, both variants of the tool."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from dshweb.sessionlog.core.body import as_int, decode_json

TOOL: Final = "ask_user_question"
_KEPT: Final = 50
_ITEMS: Final = 20  # questions of one call, and options of one question
_TEXT: Final = 2000
_LABEL: Final = 200
_ID: Final = 200

Mask = Callable[[str], str]


class Questions:
    """`pending` maps call ids to `{"seq", "state", "questions"}`; state is `open`, `continued` or `untimed`.

    `timed`: the tool declared in the latest request header takes a timeout. Texts are as `mask` left them.
    """

    def __init__(self, mask: Mask) -> None:
        self.timed = False
        self.pending: dict[str, dict[str, Any]] = {}
        self._mask = mask

    def header(self, header: Any) -> None:
        """A `request/header` row's header."""
        tools = header.get("tools") if isinstance(header, dict) else None
        self.timed = any(_takes_timeout(tool) for tool in tools or ()) if isinstance(tools, list) else False

    def call(self, seq: int, body: Mapping[str, Any]) -> None:
        """A `tool/call` row of the tool."""
        call, asked = self._key(body.get("callId")), self._asked(body.get("arguments"))
        room = call in self.pending or len(self.pending) < _KEPT
        if call is not None and room and (asked or not self.timed):
            self.pending[call] = {"seq": seq, "state": "open" if self.timed else "untimed", "questions": asked}

    def result(self, body: Mapping[str, Any]) -> None:
        """A `tool/result` row: the answer, or the word that the wait for it goes on."""
        message = body.get("message")
        message = message if isinstance(message, dict) else {}
        source = message.get("source")
        call = self._key(message.get("toolCallId") or (source.get("callId") if isinstance(source, dict) else None))
        found = self.pending.get(call) if call is not None else None
        if call is None or found is None:
            return
        error = body.get("error")
        unknown = isinstance(error, dict) and error.get("code") == "TOOL_OUTCOME_UNKNOWN"
        if found["state"] != "untimed" and (unknown or _first_json(message.get("content")).get("pending") is True):
            found["state"] = "continued"
        else:
            del self.pending[call]

    def dispatched(self, seq: int, body: Mapping[str, Any]) -> None:
        """A `tool/ptc-dispatch` row of the tool."""
        call = self._key(body.get("subCallId"))
        pending = _first_json(body.get("content")).get("pending") is True
        if call is not None and pending and not body.get("isError") and len(self.pending) < _KEPT:
            asked = self._asked(body.get("arguments"))
            self.pending[call] = {"seq": seq, "state": "continued", "questions": asked}

    def reply(self, source: Mapping[str, Any]) -> None:
        """A message with which the person answers."""
        if source.get("outcome", "answered") == "answered":
            self.pending.pop(self._key(source.get("callId")) or "", None)

    def turn_border(self) -> None:
        """A question of the untimed variant does not outlive its turn."""
        for call in [call for call, found in self.pending.items() if found["state"] == "untimed"]:
            del self.pending[call]

    def _asked(self, arguments: Any) -> list[dict[str, Any]]:
        if isinstance(arguments, str):
            try:
                arguments = decode_json(arguments.encode("utf-8", "surrogatepass"))[0]
            except ValueError:
                return []
        items = arguments.get("questions") if isinstance(arguments, dict) else None
        return [self._question(item) for item in _listed(items)]

    def _question(self, item: Mapping[str, Any]) -> dict[str, Any]:
        labels = [one.get("label") for one in _listed(item.get("options"))]
        return {
            "id": self._text(item.get("id"), _ID),
            "question": self._text(item.get("question"), _TEXT),
            "options": [self._text(label, _LABEL) for label in labels if isinstance(label, str)],
        }

    def _text(self, value: Any, most: int) -> str:
        return self._mask(value)[:most] if isinstance(value, str) else ""

    def _key(self, value: Any) -> str | None:
        return self._mask(value)[:_ID] if isinstance(value, str) and len(value) <= _ID else None

    def to_json(self) -> dict[str, Any]:
        """Plain members."""
        return {"timed": self.timed, "pending": {call: dict(found) for call, found in self.pending.items()}}

    def load(self, state: Mapping[str, Any]) -> None:
        """Takes over what `to_json` gave. Raises KeyError or TypeError for another shape."""
        self.timed = state["timed"]
        self.pending = {call: dict(found) for call, found in state["pending"].items()}
        for found in self.pending.values():
            if as_int(found["seq"]) is None or not isinstance(found["state"], str):
                raise TypeError("a pending question of another shape")


def _listed(items: Any) -> list[dict[str, Any]]:
    return [item for item in items[:_ITEMS] if isinstance(item, dict)] if isinstance(items, list) else []


def _takes_timeout(tool: Any) -> bool:
    if not isinstance(tool, dict) or tool.get("name") != TOOL:
        return False
    parameters = tool.get("parameters")
    properties = parameters.get("properties") if isinstance(parameters, dict) else None
    return isinstance(properties, dict) and "timeout" in properties


def _first_json(content: Any) -> dict[str, Any]:
    """The JSON object in the first text block of a result; {} when it holds none. v3 wraps the blocks once more."""
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == "tool-result":
            return _first_json(block.get("content"))
        if isinstance(block, dict) and isinstance(block.get("text"), str):
            try:
                value = json.loads(block["text"])
            except (ValueError, RecursionError):
                return {}
            return value if isinstance(value, dict) else {}
    return {}
