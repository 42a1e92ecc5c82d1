"""The members of a surface row that a price depends on, decoded without the rest (a tool's `meta`, mostly).

Rule: PERFORMANCE §2 (typed decoding); COMPACTION §3 for what has a price. What no strict reader takes is read as
`JSON.parse` would.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from dshweb.sessionlog.core.events import Event

from .text import parse


class _Carrier(msgspec.Struct):
    message: Any = None
    usage: Any = None
    stream: Any = None
    turn: Any = None
    step: Any = None


class _Direct(msgspec.Struct):
    content: Any = None
    source: Any = None


_carrier: Final = msgspec.json.Decoder(_Carrier)
_direct: Final = msgspec.json.Decoder(_Direct)


def members(event: Event) -> dict[str, Any]:
    """`message`, `usage`, `stream`, `turn` and `step` of a row's data; of a `user/message`, which is the message itself,
    `content` and `source`. Empty when the data is no JSON object.
    """
    try:
        if event.type == "user/message":
            message = _direct.decode(event.raw)
            return {"content": message.content, "source": message.source}
        row = _carrier.decode(event.raw)
        return {"message": row.message, "usage": row.usage, "stream": row.stream, "turn": row.turn, "step": row.step}
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        pass
    try:
        value = parse(event.raw)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
