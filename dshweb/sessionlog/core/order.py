"""What a seq that is not the expected one tells: a gap, a repetition, two writers. Rules: SESSION-LOG §4, FR-043, FR-044."""

from __future__ import annotations

from typing import Final

import msgspec

from .body import decode_json
from .damage import DamageLog

END_SEED: Final = "session/end-seed"


def note_order(
    damage: DamageLog, *, seq: int, expected: int, max_seq: int, kinds: tuple[str, str], hurt: int | None, row: int
) -> None:
    """Notes that row `row` has `seq` where `expected` should stand; `max_seq` is the largest seq so far.

    `kinds`: types of the event before and of this one. `hurt`: offset of damaged bytes since the last row, which explain a gap.
    """
    if seq < expected:
        if seq == expected - 1:
            damage.add("seq_duplicate", seq=seq, detail=f"seq {seq} occurs again")
            return
        damage.add("seq_back", seq=seq, detail=f"seq goes back from {expected - 1} to {seq}")
        if END_SEED in kinds:
            damage.add("two_processes", seq=seq, detail="seq goes back at an end-seed row: two writers")
        return
    if expected <= max_seq:
        damage.add("two_processes", seq=seq, detail=f"rows of two writers are mixed: {expected - 1} then {seq}")
        expected = max_seq + 1
        if seq <= expected:
            return
    missing = f"seq {expected} is missing" if seq == expected + 1 else f"seq {expected} to {seq - 1} are missing"
    if hurt is None:
        damage.add("seq_gap", seq=expected, detail=missing)
    else:
        damage.lose(row - 1)
        damage.add("lost_rows", offset=hurt, seq=expected, detail=f"{missing}, with the bytes at {hurt}")


def ends_prefix(data: msgspec.Raw) -> bool:
    """Whether an end-seed row ends a fork's inherited prefix (`inherited: true`); others mark a resumed process."""
    try:
        value, _ = decode_json(data)
    except ValueError:
        return False
    return isinstance(value, dict) and value.get("inherited") is True
