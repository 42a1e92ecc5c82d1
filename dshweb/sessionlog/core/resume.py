"""Where a reading of a growing log stands: enough to go on with the new frames only, and nothing of what rows say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

VERSION = 2


class StaleState(ValueError):
    """A kept state that this reader cannot go on from, e.g. an older dshweb's: the log is to be read anew."""


@dataclass(frozen=True, slots=True)
class Resume:
    """State after the last settled frame or line; JSON-able.

    `offset` is the byte offset where new bytes begin (an unfinished tail lies behind it and is read again). The frame
    at `pending_offset` holds the beginning of a row that is not finished yet, `pending_skip` decoded bytes in; both
    None when no row is open. `rows`, `accounting` and `damage` are those of everything before `offset`.
    """

    compressed: bool
    offset: int
    pending_offset: int | None
    pending_skip: int
    resync_work: int
    rows: dict[str, Any]
    accounting: dict[str, Any]
    damage: dict[str, Any]

    @property
    def next_seq(self) -> int:
        """Seq that the next event should have."""
        return int(self.rows["nextSeq"])

    def to_json(self) -> dict[str, Any]:
        """Plain JSON value."""
        return {"v": VERSION} | {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> Resume:
        """Inverse of `to_json`. Raises StaleState for a state of another version."""
        if state.get("v") != VERSION:
            raise StaleState("resume state of another version: read the log anew")
        try:
            return cls(**{name: state[name] for name in cls.__slots__})
        except KeyError as error:
            raise StaleState(f"resume state without {error}") from error
