"""Limits of one reading: what a log may cost before the reader stops believing it. Issue 2, section B; QUALITY §4."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes in bytes, counts as such. DSH itself writes 2 MiB windows and frames of a few kilobytes.

    `ratio` is decoded : stored for one frame and only bites above `ratio_floor` decoded bytes, because a small frame
    of one repeated line compresses very well and harms nobody. `frame_rows` bounds the rows, and the events of packed
    rows, that one frame may give: tiny rows take some fifty times their bytes once they are events. It is what a
    stretch of a plain log can hold.
    """

    log_bytes: int = 4 << 30
    frame_bytes: int = 64 << 20
    window_bytes: int = 128 << 20
    ratio: int = 1000
    ratio_floor: int = 16 << 20
    row_bytes: int = 64 << 20
    row_seqs: int = 1 << 20
    row_events: int = 1 << 16
    frame_rows: int = 1 << 18
    damage_entries: int = 100

    def frame_cap(self, stored: int) -> int:
        """Most decoded bytes that a frame of `stored` bytes may give."""
        return min(self.frame_bytes, max(self.ratio_floor, self.ratio * stored))

    @property
    def slice_bytes(self) -> int:
        """Longest stored frame worth holding: a frame that long cannot decode to less than `frame_bytes`."""
        return self.frame_bytes + (self.frame_bytes >> 10) + 4096
