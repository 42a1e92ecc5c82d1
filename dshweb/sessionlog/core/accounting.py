"""What became of every byte, line and row of a log. Rule of the house 5: in = kept + counted out.

The counts satisfy, at any time and however the log was read:

    size   == bytes_good + bytes_skippable + bytes_damaged + bytes_unread
    lines  == header_rows + rows
    rows   == event_rows + sum(skipped.values())
    events == event_rows + unpacked
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(slots=True)
class Accounting:
    """Counts of one log.

    `frames` are data frames that decoded (1 for a log that is not compressed), `damaged_frames` those that did not,
    junk between frames included. `lines` are all lines read, blank, broken and cut ones too. `unpacked` counts the
    events of packed rows beyond the first of each. `skipped` has a count by reason: `blank`, `bad_json`,
    `not_an_object`, `no_type`, `bad_packed_row`, `second_header`, `cut_row` (part of it lay in damaged bytes),
    `torn_row` (the file ends inside it), `limit_row` (too long), `limit_rows` (its frame has too many).
    """

    size: int = 0
    frames: int = 0
    skippable_frames: int = 0
    damaged_frames: int = 0
    bytes_good: int = 0
    bytes_skippable: int = 0
    bytes_damaged: int = 0
    bytes_unread: int = 0
    decoded_bytes: int = 0
    lines: int = 0
    header_rows: int = 0
    rows: int = 0
    event_rows: int = 0
    unpacked: int = 0
    events: int = 0
    skipped: dict[str, int] = field(default_factory=dict)

    def skip(self, reason: str, rows: int = 1) -> None:
        """Count rows that make no event."""
        self.skipped[reason] = self.skipped.get(reason, 0) + rows

    def adds_up(self) -> bool:
        """Whether the four equations above hold."""
        return (
            self.size == self.bytes_good + self.bytes_skippable + self.bytes_damaged + self.bytes_unread
            and self.lines == self.header_rows + self.rows
            and self.rows == self.event_rows + sum(self.skipped.values())
            and self.events == self.event_rows + self.unpacked
        )

    def to_json(self) -> dict[str, Any]:
        """Plain members, independent of this object."""
        return asdict(self)
