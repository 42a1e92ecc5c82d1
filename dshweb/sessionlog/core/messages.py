"""One surface event of any format as a message: who, what in pieces, which tool call. The only place that knows shapes.

Rules: SESSION-LOG §7 (v4 shapes), §8 (authors), §11 (v0 to v3 wrap tool results); COMPACTION-AUDIT §5 (text and source
of a leaf's blocks); STATE-EVENTS §7 (placeholders written by repair).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from .authors import Author, author_of
from .body import as_int
from .events import Event
from .leaves import Block, Leaf, Source
from .surface import SURFACE_TYPES
from .toolargs import arguments_text

Placeholder = Literal["interrupted", "forked", "unknown_outcome", "not_started"]

_NAMES: Final = ("name", "fileName", "filename", "file_name", "path", "title")
_PREFIXES: Final[tuple[tuple[str, Placeholder], ...]] = (
    ("interrupted-tool-result-", "interrupted"),
    ("forked-tool-result-", "forked"),
    ("forked-", "forked"),
)
_CODES: Final[dict[str, Placeholder]] = {"TOOL_OUTCOME_UNKNOWN": "unknown_outcome", "TOOL_NOT_STARTED": "not_started"}
_WHOLE: Final = ("full output", "complete output", "entire output", "full result", "完整输出", "全部输出", "完整结果")
_KEPT: Final = ("saved", "written", "stored", "available at", "保存", "写入", "存放")
_EDGE: Final = 400


class Message(msgspec.Struct, frozen=True):
    """A surface event. Unknown members are None or "".

    `role` is the message's own (`tool/result` of v0 to v3 says `user`). `calls` are id and name of the tool calls an
    assistant message makes; `call_id` and `tool` belong to a tool result. `placeholder` names a result that repair or a
    fork wrote instead of the tool. `opaque_blocks` counts images, files and blocks without text. `mapped` is False when
    the content had no shape that any format knows.
    """

    seq: int
    row: int
    type: str
    time: int | None
    turn: int | None
    step: int | None
    id: str
    role: str
    author: Author
    blocks: tuple[Block, ...]
    calls: tuple[tuple[str, str], ...] = ()
    call_id: str = ""
    tool: str = ""
    is_error: bool | None = None
    error_code: str = ""
    placeholder: Placeholder | None = None
    interrupted: bool = False
    provider: str = ""
    model: str = ""
    usage: dict[str, Any] | None = None
    opaque_blocks: int = 0
    mapped: bool = True

    @property
    def externalized(self) -> bool:
        """Whether a tool result declares its full output to be kept elsewhere."""
        return self.type == "tool/result" and any(_externalized(block.text) for block in self.blocks)

    @property
    def is_human(self) -> bool:
        """Whether a person typed it."""
        return self.type == "user/message" and self.author.is_human

    def leaf(self) -> Leaf:
        """The same as a leaf of a ledger."""
        return Leaf(self.seq, self.type, self.author.stated, self.time, self.turn, self.blocks)


def parse_message(event: Event, *, turn: int | None = None, tools: Mapping[str, str] | None = None) -> Message | None:
    """The message of a surface event, None for any other event. Never raises.

    `turn` is the open turn, for user messages, which do not say theirs. `tools` maps call ids to tool names.
    """
    if event.type not in SURFACE_TYPES:
        return None
    body = event.body
    message = body if event.type == "user/message" else _dict(body.get("message"))
    author = author_of(message.get("source"), system=event.type == "system/message")
    content = message.get("content")
    call_id = _text(message.get("toolCallId"))
    is_error = _bool(message.get("isError"))
    pieces = _Pieces(event.seq, _source(event.type, author))
    if event.type == "tool/result":
        wrapper = _wrapped(content)
        if wrapper is not None:
            content = wrapper.get("content")
            call_id = call_id or _text(wrapper.get("toolCallId"))
            is_error = _bool(wrapper.get("isError")) if is_error is None else is_error
        call_id = call_id or _text(_dict(message.get("source")).get("callId"))
        pieces.label = (tools or {}).get(call_id, "")
    pieces.add_all(content)
    own_turn = as_int(body.get("turn")) if event.type != "user/message" else None
    source = _dict(message.get("source"))
    error_code = _text(_dict(body.get("error")).get("code")) if event.type == "tool/result" else ""
    return Message(
        seq=event.seq,
        row=event.row,
        type=event.type,
        time=event.time,
        turn=turn if own_turn is None else own_turn,
        step=as_int(body.get("step")) if event.type != "user/message" else None,
        id=_text(message.get("id")),
        role=_text(message.get("role")),
        author=author,
        blocks=tuple(pieces.blocks),
        calls=tuple(pieces.calls),
        call_id=call_id,
        tool=pieces.label,
        is_error=is_error,
        error_code=error_code,
        placeholder=_placeholder(event.type, _text(message.get("id")), error_code),
        interrupted=body.get("interrupted") is True and event.type == "assistant/message",
        provider=_text(source.get("provider")),
        model=_text(source.get("model")),
        usage=_dict(body.get("usage")) or None if event.type == "assistant/message" else None,
        opaque_blocks=pieces.opaque,
        mapped=pieces.mapped,
    )


class _Pieces:
    """Collects the blocks of one content list."""

    def __init__(self, seq: int, source: Source, *, nested: bool = False) -> None:
        self.seq = seq
        self.nested = nested
        self.source: Source = source
        self.label = ""
        self.blocks: list[Block] = []
        self.calls: list[tuple[str, str]] = []
        self.opaque = 0
        self.mapped = True

    def add_all(self, content: Any) -> None:
        if isinstance(content, str):  # some providers' shorthand for one text block
            self._put(0, self.source, content)
        elif isinstance(content, list):
            for index, block in enumerate(content):
                self._add(index, _dict(block))
        else:
            self.mapped = content is None

    def _add(self, index: int, block: dict[str, Any]) -> None:
        kind = block.get("type")
        text = block.get("text")
        if kind == "reasoning":
            self._put(index, "reasoning" if self.source == "assistant" else self.source, text)
        elif kind == "tool-call":
            name = _text(block.get("name"))
            self.calls.append((_text(block.get("id")), name))
            arguments = arguments_text(block.get("arguments"))
            self._put(index, "tool_args", f"{name}\n{arguments}" if arguments else name, name)
        elif kind == "text" or (isinstance(text, str) and text):
            self._put(index, self.source, text)
        elif kind == "tool-result" and not self.nested and isinstance(block.get("content"), list):
            inner = _Pieces(self.seq, self.source, nested=True)
            inner.label = self.label
            inner.add_all(block["content"])
            self.blocks += inner.blocks
            self.opaque += inner.opaque
        else:
            self.opaque += 1
            self._put(index, self.source, _attachment_name(block))

    def _put(self, index: int, source: Source, text: Any, label: str = "") -> None:
        if isinstance(text, str) and text:
            self.blocks.append(Block(self.seq, index, source, text, label or self.label))


def _source(kind: str, author: Author) -> Source:
    if kind == "assistant/message":
        return "assistant"
    if kind == "tool/result":
        return "tool_result"
    return "human" if kind == "user/message" and author.is_human else "injected"


def _wrapped(content: Any) -> dict[str, Any] | None:
    """The block in which v0 to v3 wrap a tool result, None in v4."""
    if isinstance(content, list) and len(content) == 1:
        block = _dict(content[0])
        if block.get("type") == "tool-result":
            return block
    return None


def _placeholder(kind: str, message_id: str, code: str) -> Placeholder | None:
    if kind != "tool/result":
        return None
    for prefix, name in _PREFIXES:
        if message_id.startswith(prefix):
            return name
    return _CODES.get(code)


def _externalized(text: str) -> bool:
    """Whether a tool's output says that the whole of it is kept elsewhere; such notes stand at one of its ends."""
    edges = (text if len(text) <= 2 * _EDGE else text[:_EDGE] + text[-_EDGE:]).lower()
    return any(word in edges for word in _WHOLE) and any(word in edges for word in _KEPT)


def _attachment_name(block: dict[str, Any]) -> str:
    inner = _dict(block.get("file")) or _dict(block.get("source"))
    for holder in (block, inner):
        for key in _NAMES:
            if isinstance(holder.get(key), str) and holder[key]:
                return str(holder[key])
    return ""


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _bool(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None
