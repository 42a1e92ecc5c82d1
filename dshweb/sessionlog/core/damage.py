"""What is wrong with a log, by code. Damaged bytes and damaged order are different things (field report FR-043)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal

DamageKind = Literal["bytes", "order", "note"]

ORDER_CODES: Final = frozenset({"seq_gap", "seq_duplicate", "seq_back", "two_processes"})
NOTE_CODES: Final = frozenset({"seq_by_position", "no_time", "second_header", "encoding_mismatch", "unknown_version"})


@dataclass(frozen=True, slots=True)
class Damage:
    """One finding. `offset` is a byte offset in the stored file (the frame's, for frames), `seq` an event's number.

    A detail never holds text of a row, so that a damage report may be shown to anyone who may see the log's name.
    """

    code: str
    offset: int | None = None
    seq: int | None = None
    detail: str = ""

    @property
    def kind(self) -> DamageKind:
        """Whether bytes are damaged, the order of events is, or the entry only notes something unusual."""
        if self.code in ORDER_CODES:
            return "order"
        return "note" if self.code in NOTE_CODES else "bytes"

    def to_json(self) -> dict[str, Any]:
        """`{"code", "offset"|"seq", "detail"}` as `ingest --json` prints it; unknown members are left out."""
        out: dict[str, Any] = {"code": self.code}
        if self.offset is not None:
            out["offset"] = self.offset
        if self.seq is not None:
            out["seq"] = self.seq
        out["detail"] = self.detail
        return out


@dataclass(slots=True)
class DamageLog:
    """Findings in the order met: the first `keep` of each code, and how many there were of each.

    `lost_row` is the row where rows were lost for the first time; None: every row so far was read.
    """

    keep: int = 100
    entries: list[Damage] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    lost_row: int | None = None

    def lose(self, row: int) -> None:
        """Note that rows were lost at row `row` or right behind it: the log is whole up to that row only."""
        if self.lost_row is None:
            self.lost_row = row

    def add(self, code: str, *, offset: int | None = None, seq: int | None = None, detail: str = "") -> None:
        """Note one finding; beyond `keep` of its code it is only counted."""
        n = self.counts.get(code, 0) + 1
        self.counts[code] = n
        if n <= self.keep:
            self.entries.append(Damage(code, offset, seq, detail))

    def once(self, code: str, *, offset: int | None = None, seq: int | None = None, detail: str = "") -> None:
        """Count a finding, keeping only the first entry of its code."""
        if self.counts.get(code):
            self.counts[code] += 1
        else:
            self.add(code, offset=offset, seq=seq, detail=detail)

    @property
    def hurts(self) -> bool:
        """Whether there is more than notes."""
        return any(code not in NOTE_CODES for code in self.counts)

    def to_json(self) -> dict[str, Any]:
        """State for `Resume`."""
        return {
            "keep": self.keep,
            "entries": [e.to_json() for e in self.entries],
            "counts": dict(self.counts),
            "lostRow": self.lost_row,
        }

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> DamageLog:
        """Inverse of `to_json`."""
        entries = [Damage(e["code"], e.get("offset"), e.get("seq"), e["detail"]) for e in state["entries"]]
        return cls(state["keep"], entries, dict(state["counts"]), state["lostRow"])
