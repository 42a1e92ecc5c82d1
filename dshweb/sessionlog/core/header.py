"""The header line: who a log belongs to and which format it is in. Rule: SESSION-LOG §3 and §11."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from .body import as_int

KNOWN_FORMATS: Final = range(5)
_FIELDS: Final = {
    "type", "version", "id", "createdAt", "cwd", "parentSession", "origin", "isSeeded", "seedLength",
    "delegationDepth", "agentPreset",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Header:
    """First line of a log. Absent or ill-typed members are None; `extra` keeps members that no format defines.

    `created_at` is epoch ms. `seed_length` (v0 forks) is the number of inherited events. `raw` is the line as decoded.
    """

    version: int | None
    id: str | None
    created_at: int | None
    cwd: str | None
    parent_session: str | None
    origin: str | None
    is_seeded: bool | None
    seed_length: int | None
    delegation_depth: int | None
    agent_preset: str | None
    extra: dict[str, Any] = field(default_factory=dict)
    raw: dict[str, Any] = field(default_factory=dict)

    @property
    def rules(self) -> dict[str, Any]:
        """The members that say how the rows after the header are read; nothing that could be a secret."""
        return {"version": self.version, "isSeeded": self.is_seeded, "seedLength": self.seed_length}

    @property
    def supported(self) -> bool:
        """Whether the format version is one this reader was written for (v0 to v4)."""
        return self.version in KNOWN_FORMATS


def is_header(row: object) -> bool:
    """Whether a decoded row is a header: `type` is `session` and it is no numbered event."""
    return isinstance(row, dict) and row.get("type") == "session" and "seq" not in row


def parse_header(row: dict[str, Any]) -> Header:
    """Header from its decoded line; every member is optional and never trusted to have its type."""

    def text(key: str) -> str | None:
        value = row.get(key)
        return value if isinstance(value, str) else None

    seeded = row.get("isSeeded")
    return Header(
        version=as_int(row.get("version")),
        id=text("id"),
        created_at=as_int(row.get("createdAt")),
        cwd=text("cwd"),
        parent_session=text("parentSession"),
        origin=text("origin"),
        is_seeded=seeded if isinstance(seeded, bool) else None,
        seed_length=as_int(row.get("seedLength")),
        delegation_depth=as_int(row.get("delegationDepth")),
        agent_preset=text("agentPreset"),
        extra={k: v for k, v in row.items() if k not in _FIELDS},
        raw=row,
    )
