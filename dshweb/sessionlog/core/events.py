"""One event of a log as it stands in its row, and rows taken apart into events.

Envelope: SESSION-LOG §4; packed rows of format v0: §11. The envelope is typed and strict first, and `data` stays raw
JSON until someone asks for it (PERFORMANCE §2); a row with anything unusual takes the tolerant way.
"""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple

import msgspec

from .body import as_int, decode_json, expand_seqs, fix_surrogates

PACKED: Final = {
    "text-chunks": ("texts", "text-delta", "text"),
    "reasoning-chunks": ("texts", "reasoning-delta", "text"),
    "tool-call-chunks": ("args", "tool-call-delta", "argumentsDelta"),
}
_NULL: Final = msgspec.Raw(b"null")
MOST: Final = (1 << 53) - 1  # the largest whole number that DSH, a JavaScript program, can count to


class Replace(NamedTuple):
    """Surface operation that puts this event in place of the nodes from `start` to `end`, by position (§5)."""

    start: int
    end: int


class Event(msgspec.Struct, frozen=True, eq=False):
    """One event. `seq` is its number, `time` epoch ms or None, `row` the number of its row in the log (header apart).

    `numbered_by_position` says that the row carried no usable seq. `inherited` is what was known while reading: rows of
    a fork stay "inherited" until its end-seed row; `LogReader.inherited_before` holds in the end. A `provisional` event
    comes from the unfinished tail. `repaired`: the row held bytes or numbers that no strict reader takes.
    `extra` keeps members of the row that the envelope does not know, decoded.
    """

    type: str
    seq: int
    time: int | None
    raw: msgspec.Raw
    row: int
    surface_op: Literal["append"] | Replace | None = None
    source_event_seqs: tuple[int, ...] | None = None
    ignorable: bool = False
    numbered_by_position: bool = False
    inherited: bool = False
    provisional: bool = False
    repaired: bool = False
    extra: dict[str, Any] | None = None
    cached: Any = msgspec.UNSET

    @property
    def data(self) -> bytes:
        """`data` as raw JSON bytes (of an event out of a packed row: as the unpacked row would hold it)."""
        return bytes(self.raw)

    @property
    def value(self) -> Any:
        """`data` decoded, whatever it is; None when absent or undecodable. Decoded once."""
        if self.cached is msgspec.UNSET:
            try:
                value, _ = decode_json(self.raw)
            except ValueError:
                value = None
            msgspec.structs.force_setattr(self, "cached", value)
        return self.cached

    @property
    def body(self) -> dict[str, Any]:
        """`data` decoded when it is an object, else an empty dict."""
        value = self.value
        return value if isinstance(value, dict) else {}


class Envelope(msgspec.Struct, forbid_unknown_fields=True):
    """The members of a row as DSH writes them; a row that does not fit is read tolerantly."""

    type: str
    seq: int
    time: int
    data: msgspec.Raw = _NULL
    surfaceOp: str | dict[str, str | int] | None = None
    sourceEventSeqs: list[int | list[int]] | None = None
    ignorable: bool = False


class Row(msgspec.Struct):
    """One row read tolerantly. `parts` (time, data) of a packed row make one event each; `problems` are codes."""

    type: str
    seq: int | None
    time: int | None
    data: msgspec.Raw
    surface_op: Literal["append"] | Replace | None
    source_event_seqs: tuple[int, ...] | None
    ignorable: bool
    repaired: bool
    parts: list[tuple[int | None, msgspec.Raw]] | None
    extra: dict[str, Any]
    problems: list[str]


_strict = msgspec.json.Decoder(Envelope)
_members = msgspec.json.Decoder(dict[str, msgspec.Raw])


def strict_row(line: bytes | memoryview) -> Envelope | None:
    """The row when it is exactly as DSH writes one, else None."""
    try:
        row = _strict.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return row if 0 <= row.seq <= MOST and abs(row.time) <= MOST and row.type not in PACKED else None


def surface_op(value: object) -> Literal["append"] | Replace | None:
    """The operation in either spelling (`start`/`end` in v0, `startSeq`/`endSeq` later); None for anything else."""
    if value == "append":
        return "append"
    if isinstance(value, dict) and value.get("op") == "replace":
        start = as_int(value.get("startSeq", value.get("start")))
        end = as_int(value.get("endSeq", value.get("end")))
        if start is not None and end is not None:
            return Replace(start, end)
    return None


def tolerant_row(line: bytes, *, most_seqs: int, most_events: int) -> Row | str:
    """Any row: a `Row`, or the reason why it makes no event (`bad_json`, `not_an_object`, `no_type`)."""
    members, repaired = _split(line)
    if isinstance(members, str):
        return members
    kind = _plain(members.pop("type", None))
    if not isinstance(kind, str):
        return "no_type"
    problems: list[str] = []
    packed = PACKED.get(kind) if "seq0" in members or "time0" in members else None
    seq = as_int(_plain(members.pop("seq0" if packed else "seq", None)))
    time = as_int(_plain(members.pop("time0" if packed else "time", None)))
    data = _raw(members.pop("data", None))
    op_value = _plain(members.pop("surfaceOp", None))
    op = surface_op(op_value)
    sources: tuple[int, ...] | None = None
    listed = _plain(members.pop("sourceEventSeqs", None))
    if listed is not None:
        sources, problem = expand_seqs(listed, most_seqs)
        if problem:
            problems.append(problem)
    ignorable = _plain(members.pop("ignorable", None)) is True
    extra = {fix_surrogates(k): _plain(v) for k, v in members.items()}
    if op is None and op_value is not None:
        extra["surfaceOp"] = op_value
    parts = None
    if packed:
        parts, problem = _unpack(data, kind, time, most_events)
        if problem:
            problems.append(problem)
        if not parts:
            return "bad_packed_row"
    if seq is not None and not 0 <= seq <= MOST:
        seq = None
    name = "assistant/chunk" if packed else fix_surrogates(kind)
    return Row(name, seq, time, data, op, sources, ignorable, repaired, parts, extra, problems)


def _split(line: bytes) -> tuple[dict[str, Any] | str, bool]:
    """Members of a row, each raw where possible, and whether the row had to be repaired; or why there are none."""
    try:
        return _members.decode(line), False
    except msgspec.ValidationError:
        return "not_an_object", False
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        pass
    try:
        value, _ = decode_json(line)
    except ValueError:
        return "bad_json", True
    return (value, True) if isinstance(value, dict) else ("not_an_object", True)


def _plain(value: Any) -> Any:
    """A member's value: raw ones are decoded, undecodable ones are None."""
    if not isinstance(value, msgspec.Raw):
        return value
    try:
        return decode_json(value)[0]
    except ValueError:
        return None


def _raw(value: Any) -> msgspec.Raw:
    if isinstance(value, msgspec.Raw):
        return value
    return _NULL if value is None else msgspec.Raw(msgspec.json.encode(value))


def _unpack(
    data: msgspec.Raw, packed: str, start: int | None, most: int
) -> tuple[list[tuple[int | None, msgspec.Raw]], str]:
    """Time and `data` of each event in a packed row (no events: no pieces), and "limit_events" when cut at `most`.

    `dt` holds the gaps between neighbours, so one less than there are pieces; as many as pieces are taken as counted
    from `time0`. The data has the shape of an unpacked `assistant/chunk` row.
    """
    member, kind, text = PACKED[packed]
    body = _plain(data)
    pieces = body.get(member) if isinstance(body, dict) else None
    if not isinstance(pieces, list):
        return [], ""
    gaps = body.get("dt")
    gaps = gaps if isinstance(gaps, list) else []
    if len(gaps) < len(pieces):
        gaps = [0, *gaps]
    head = {"turn": body.get("turn"), "step": body.get("step")}
    chunk = {"type": kind, "index": body.get("index")}
    if kind == "tool-call-delta":
        chunk |= {k: body[k] for k in ("id", "name") if k in body}
    parts: list[tuple[int | None, msgspec.Raw]] = []
    now = start
    for n, piece in enumerate(pieces[:most]):
        gap = as_int(gaps[n]) if n < len(gaps) else None
        now = None if now is None else as_int(now + (gap or 0))
        parts.append((now, msgspec.Raw(msgspec.json.encode({**head, "chunk": {**chunk, text: piece}}))))
    return parts, "limit_events" if most < len(pieces) else ""
