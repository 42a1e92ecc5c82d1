"""What of a request header the measurement goes by: where requests are routed, what the tools cost, when two are equal.

Rule: COMPACTION §5 (header equality), §3 (price of the tools), §2 (reserved completion tokens); STATE-EVENTS §10: up to
v2 the system prompt stands in the header.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

import msgspec

from dshweb.sessionlog.core.body import as_int, as_text
from dshweb.text.js import stringify
from dshweb.text.js import utf16_len as units

from .estimate import BLOCK
from .text import parse, restringified, tokens

_CONFIG: Final = ("provider", "model", "reasoningEffort", "temperature", "maxTokens", "stop")
_DEFAULTS: Final = ("reasoningEffort", "maxTokens")
_NO_TOOLS: Final = ("", "null", "[]")


@dataclass(frozen=True, slots=True)
class RequestHeader:
    """A `request/header` row in numbers. `key` is a digest that is the same for two headers that count as equal.

    `max_tokens` is the reserved completion (None: the header does not say). `system_tokens`: price of a system prompt
    inside the header (v0 to v2), else 0. `tools_digest` is of the tools' bytes as they stand in the row.
    """

    seq: int
    provider: str | None
    model: str | None
    max_tokens: int | None
    tools_tokens: int
    system_tokens: int
    key: str
    tools_digest: str
    tools_key: str

    @property
    def prefix_tokens(self) -> int:
        """What the header itself costs in front of the surface."""
        return self.tools_tokens + self.system_tokens


class _Header(msgspec.Struct):
    config: Any = None
    adapterDefaults: Any = None
    tools: msgspec.Raw = msgspec.Raw(b"")
    system: Any = None


class _Row(msgspec.Struct):
    header: _Header | None = None


_decoder = msgspec.json.Decoder(_Row)


def read_header(seq: int, raw: bytes | msgspec.Raw, before: RequestHeader | None) -> RequestHeader | None:
    """The header of a row's raw `data`; None when it holds none that can be read. Tools equal to those of `before` are not priced again."""
    header = _header(raw)
    if header is None:
        return None
    config = header.config if isinstance(header.config, dict) else {}
    defaults = header.adapterDefaults if isinstance(header.adapterDefaults, dict) else {}
    declared = bytes(header.tools)
    digest = sha256(declared).hexdigest()
    if before is not None and before.tools_digest == digest:
        price, tools_key = before.tools_tokens, before.tools_key
    else:
        try:
            tools = restringified(declared) if declared else ""
        except ValueError:
            return None
        price = 0 if tools in _NO_TOOLS else tokens(units(tools)) + BLOCK
        tools_key = _digest("" if tools in _NO_TOOLS else tools)
    system = header.system
    parts = [_members(config, _CONFIG), _members(defaults, _DEFAULTS), tools_key]
    if isinstance(system, str):
        parts.append(_digest(system))
    return RequestHeader(
        seq=seq,
        provider=as_text(config.get("provider")),
        model=as_text(config.get("model")),
        max_tokens=as_int(config.get("maxTokens")),
        tools_tokens=price,
        system_tokens=tokens(units(system)) + BLOCK if isinstance(system, str) and system else 0,
        key=_digest("\n".join(parts)),
        tools_digest=digest,
        tools_key=tools_key,
    )


def _header(raw: bytes | msgspec.Raw) -> _Header | None:
    try:
        return _decoder.decode(raw).header
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        pass
    try:
        row = parse(raw)
    except ValueError:
        return None
    header = row.get("header") if isinstance(row, dict) else None
    if not isinstance(header, dict):
        return None
    tools = header.get("tools")
    declared = stringify(tools).encode("utf-8", "surrogatepass") if tools is not None else b""
    return _Header(header.get("config"), header.get("adapterDefaults"), msgspec.Raw(declared), header.get("system"))


def _members(value: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """The named members; an absent one differs from a null."""
    return "\n".join(stringify(value[name]) if name in value else "-" for name in names)


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
