"""Arguments of a tool call as text. Rule: COMPACTION-AUDIT §6, last paragraph."""

from __future__ import annotations

from typing import Any

from .body import decode_json


def arguments_text(arguments: Any) -> str:
    """All keys and string values of the arguments, depth first, one a line.

    `arguments` is the JSON text of the call, or the decoded value. Text that is not JSON (a call cut off in its
    middle) is taken raw, with its commonest escapes undone.
    """
    if isinstance(arguments, str):
        try:
            value, _ = decode_json(arguments.encode("utf-8", "replace"))
        except ValueError:
            return _unescape(arguments)
    else:
        value = arguments
    out: list[str] = []
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            out.append(item)
        elif isinstance(item, list):
            stack.extend(reversed(item))
        elif isinstance(item, dict):
            for key, member in reversed(item.items()):
                stack += (member, str(key))
    return "\n".join(out)


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    parts = text.split("\\\\")  # what is left of a backslash pair never joins with its neighbour
    return "\\".join(part.replace("\\n", "\n").replace('\\"', '"') for part in parts)
