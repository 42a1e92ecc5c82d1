"""From decoded bytes to numbered events: lines over frame borders, header, order of seqs, inherited prefix.

Rules: SESSION-LOG §2 to §4; STATE-EVENTS "three cuts" for the inherited prefix; field reports FR-037 (a header is the
first line, not the first frame), FR-041, FR-043, FR-044 and FR-053.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from .accounting import Accounting
from .body import decode_json, is_utf8, plain_seqs
from .damage import DamageLog
from .events import Event, Replace, strict_row, surface_op, tolerant_row
from .header import Header, is_header, parse_header
from .limits import Limits
from .order import END_SEED, ends_prefix, note_order


class RowReader:
    """Takes decoded bytes in file order and gives events. All state but the unfinished row is JSON-able.

    `next_seq` is the seq the next event should have. `pending` is the unfinished row at the end of the bytes so far,
    which began `pending_skip` decoded bytes into the frame at `pending_offset`.
    """

    def __init__(self, limits: Limits, accounting: Accounting, damage: DamageLog) -> None:
        self.limits = limits
        self.accounting = accounting
        self.damage = damage
        self.header: Header | None = None
        self.forked = False
        self.seen_line = False
        self.next_seq = 0
        self.max_seq = -1
        self.last_type = ""
        self.cut: int | None = None
        self.hurt: int | None = None  # offset of damaged bytes since the last row with a seq
        self.discarding = False  # inside a row beyond the limit
        self.pending: list[bytes] = []
        self.pending_bytes = 0
        self.pending_offset = 0
        self.pending_skip = 0
        self.provisional = False

    # ---- bytes to lines

    def feed(self, data: bytes, offset: int) -> list[Event]:
        """Events of the rows that end in `data`, the decoded bytes of the frame at file offset `offset`."""
        lines = data.split(b"\n", self.limits.frame_rows)
        tail = lines.pop()
        beyond = tail.count(b"\n") if len(lines) == self.limits.frame_rows else 0
        if beyond:
            tail = tail[tail.rfind(b"\n") + 1 :]
        events: list[Event] = []
        if lines:
            if self.discarding:
                del lines[0]
                self.discarding = False
            elif self.pending:
                lines[0] = self.take_pending() + lines[0]
            valid = data.isascii() or is_utf8(data)
            self._lines(lines, events, offset, valid=valid)
        if beyond:
            self.accounting.lines += beyond
            self.accounting.rows += beyond
            self._beyond(beyond, offset)
        if tail and not self.discarding:
            if not self.pending:
                self.pending_offset = offset
                self.pending_skip = len(data) - len(tail)
            self.pending.append(tail)
            self.pending_bytes += len(tail)
            if self.pending_bytes > self.limits.row_bytes:
                self._drop_row("limit_row")
                self.damage.lose(self.accounting.rows - 1)
                self.damage.add("limit_row", offset=offset, detail=f"row longer than {self.limits.row_bytes} bytes")
                self.discarding = True
        return events

    def _beyond(self, rows: int, offset: int) -> None:
        """Note rows of a frame that are passed over because it gives too many; what follows may jump in its seqs."""
        first = self.accounting.rows - rows
        self.accounting.skip("limit_rows", rows)
        self.damage.lose(first)
        detail = f"{rows} from row {first} on: one frame gives more than {self.limits.frame_rows} rows or events"
        self.damage.add("limit_rows", offset=offset, seq=self.next_seq, detail=detail)
        self.hurt = offset if self.hurt is None else self.hurt

    def take_pending(self) -> bytes:
        """The unfinished row, which is forgotten."""
        row = b"".join(self.pending)
        self.pending = []
        self.pending_bytes = 0
        return row

    def hit_damage(self, offset: int) -> None:
        """Bytes at `offset` could not be read: a row that reached into them is lost."""
        if self.pending:
            self._drop_row("cut_row")
        self.discarding = False
        if self.hurt is None:
            self.hurt = offset

    def finish(self, offset: int, *, torn: bool) -> list[Event]:
        """The unfinished row at the end of the log: kept if it is a whole JSON object, else counted as torn."""
        if not self.pending:
            return []
        line = self.take_pending()
        row = self._tolerant(line)
        if isinstance(row, str) and not self._is_header_line(line):
            self.accounting.lines += 1
            self.accounting.rows += 1
            self.accounting.skip("torn_row")
            if not torn:
                self.damage.add("torn_row", offset=offset, detail=f"the last row breaks off after {len(line)} bytes")
            return []
        events: list[Event] = []
        self._lines([line], events, offset, valid=is_utf8(line))
        return events

    def _drop_row(self, reason: str) -> None:
        self.take_pending()
        self.accounting.lines += 1
        self.accounting.rows += 1
        self.accounting.skip(reason)

    def _is_header_line(self, line: bytes) -> bool:
        try:
            return is_header(decode_json(line)[0])
        except ValueError:
            return False

    # ---- lines to events

    def _lines(self, lines: list[bytes], events: list[Event], offset: int, *, valid: bool) -> None:
        after_damage = self.hurt is not None
        self.accounting.lines += len(lines)
        for line in lines:
            repaired = False
            if not valid and not is_utf8(line):
                line = line.decode("utf-8", "replace").encode()
                repaired = True
                self.damage.add(
                    "bad_utf8", offset=offset, detail=f"row {self.accounting.rows}: invalid bytes became U+FFFD"
                )
            row = strict_row(line) if self.seen_line and not repaired else None
            op: Literal["append"] | Replace | None = None
            sources: tuple[int, ...] | None = None
            if row is not None and row.surfaceOp is not None:
                op = surface_op(row.surfaceOp)
                row = row if op is not None else None
            if row is not None and row.sourceEventSeqs is not None:
                sources = plain_seqs(row.sourceEventSeqs, self.limits.row_seqs)
                row = row if sources is not None else None
            if row is None:
                self._unusual(line, events, offset, after_damage=after_damage, repaired=repaired)
            else:
                acc = self.accounting
                acc.rows += 1
                acc.event_rows += 1
                acc.events += 1
                if row.seq != self.next_seq:
                    self._order(row.seq, row.type)
                self._emit(
                    events, row.type, row.seq, row.time, row.data, op=op, sources=sources, ignorable=row.ignorable
                )
            after_damage = False

    def _emit(
        self, events: list[Event], kind: str, seq: int, time: int | None, data: msgspec.Raw, *,
        op: Any = None, sources: tuple[int, ...] | None = None, ignorable: bool = False,
        by_position: bool = False, repaired: bool = False, extra: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        if kind == END_SEED and ends_prefix(data):
            self.cut = seq
        events.append(Event(
            kind, seq, time, data, self.accounting.rows - 1, op, sources, ignorable, by_position,
            self.forked and self._is_inherited(seq), self.provisional, repaired, extra,
        ))  # fmt: skip
        self.next_seq = seq + 1
        if seq > self.max_seq:
            self.max_seq = seq
        self.last_type = kind
        self.hurt = None

    def _is_inherited(self, seq: int) -> bool:
        """Whether an event of a fork belongs to the parent, as far as is known now."""
        if self.header is not None and self.header.seed_length is not None:
            return seq < self.header.seed_length
        return self.cut is None

    @property
    def inherited_before(self) -> int | None:
        """Events with a smaller seq are the parent's. None: no fork, or a fork whose end-seed row has not come."""
        if self.header is not None and self.header.seed_length is not None:
            return self.header.seed_length
        return self.cut

    def _tolerant(self, line: bytes) -> Any:
        return tolerant_row(line, most_seqs=self.limits.row_seqs, most_events=self.limits.row_events)

    def _unusual(self, line: bytes, events: list[Event], offset: int, *, after_damage: bool, repaired: bool) -> None:
        acc = self.accounting
        if not line.strip():
            acc.rows += 1
            acc.skip("blank")
            return
        first = not self.seen_line
        self.seen_line = True
        if (first or b'"session"' in line) and self._take_header(line, first=first, offset=offset):
            return
        acc.rows += 1
        row = self._tolerant(line)
        if isinstance(row, str):
            reason = "cut_row" if after_damage and row in ("bad_json", "not_an_object") else row
            acc.skip(reason)
            self.damage.lose(acc.rows - 1)
            if reason != "cut_row":
                self.damage.add("bad_row", offset=offset, seq=self.next_seq, detail=f"row {acc.rows - 1}: {row}")
            return
        if row.parts and len(events) + len(row.parts) > self.limits.frame_rows:
            self._beyond(1, offset)
            return
        acc.event_rows += 1
        parts = row.parts or [(row.time, row.data)]
        by_position = row.seq is None
        seq = self.next_seq if row.seq is None else row.seq
        if by_position:
            self.damage.once("seq_by_position", seq=seq, detail="rows without seq are numbered by position")
        elif seq != self.next_seq:
            self._order(seq, row.type)
        if row.time is None:
            self.damage.once("no_time", seq=seq, detail="rows without time")
        if "limit_events" in row.problems:
            self.damage.lose(acc.rows - 1)
        for problem in row.problems:
            self.damage.add(problem, offset=offset, seq=seq, detail=f"row {acc.rows - 1}")
        acc.unpacked += len(parts) - 1
        acc.events += len(parts)
        for n, (time, data) in enumerate(parts):
            self._emit(
                events, row.type, seq + n, time, data, op=row.surface_op, sources=row.source_event_seqs,
                ignorable=row.ignorable, by_position=by_position, repaired=repaired or row.repaired,
                extra=row.extra or None,
            )  # fmt: skip

    def _take_header(self, line: bytes, *, first: bool, offset: int) -> bool:
        """Whether the line was a header (or another copy of one) and has been dealt with."""
        acc = self.accounting
        if not self._is_header_line(line):
            if first:
                self.damage.add("no_header", offset=offset, detail="the first readable row is not a header")
            return False
        if self.header is not None:
            acc.rows += 1
            acc.skip("second_header")
            self.damage.add("second_header", offset=offset, detail=f"row {acc.rows - 1} is another header")
            return True
        acc.header_rows += 1
        self.set_header(parse_header(decode_json(line)[0]))
        return True

    def set_header(self, header: Header) -> None:
        """Use this header for what follows."""
        self.header = header
        self.forked = bool(header.is_seeded or header.seed_length)
        if not header.supported:
            self.damage.add("unknown_version", offset=0, detail=f"format version {header.version}: best effort")

    def _order(self, seq: int, kind: str) -> None:
        hurt, self.hurt = self.hurt, None
        note_order(
            self.damage, seq=seq, expected=self.next_seq, max_seq=self.max_seq, kinds=(self.last_type, kind), hurt=hurt,
            row=self.accounting.rows - 1,
        )  # fmt: skip

    # ---- state

    def to_json(self) -> dict[str, Any]:
        """State without the unfinished row's text, and of the header only what the rows after it are read by."""
        return {
            "header": None if self.header is None else self.header.rules,
            "seenLine": self.seen_line, "nextSeq": self.next_seq, "maxSeq": self.max_seq, "lastType": self.last_type,
            "cut": self.cut, "hurt": self.hurt, "discarding": self.discarding,
            "pending": [self.pending_offset, self.pending_skip] if self.pending else None,
        }  # fmt: skip

    def load(self, state: dict[str, Any]) -> None:
        """Inverse of `to_json`; the caller feeds the unfinished row's bytes into `pending`."""
        if state["header"] is not None:
            self.header = parse_header(state["header"])
            self.forked = bool(self.header.is_seeded or self.header.seed_length)
        self.seen_line, self.next_seq, self.max_seq = state["seenLine"], state["nextSeq"], state["maxSeq"]
        self.last_type, self.cut, self.hurt = state["lastType"], state["cut"], state["hurt"]
        self.discarding = state["discarding"]
