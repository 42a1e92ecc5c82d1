"""Epoch milliseconds as UTC text, by arithmetic alone: `core/` has no clock and imports no `datetime`."""

from __future__ import annotations

_DAY = 86_400_000
_LAST = 253_402_300_800_000


def iso_utc(ms: int | None) -> str | None:
    """`1790000000000` -> `2026-09-21T14:13:20.000Z`; None for None and for times outside the years 1970-9999."""
    if ms is None or not 0 <= ms < _LAST:
        return None
    days, rest = divmod(int(ms), _DAY)
    year, month, day = _civil(days)
    seconds, millis = divmod(rest, 1000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z"


def _civil(days: int) -> tuple[int, int, int]:
    """Year, month, day of a day count since 1970-01-01, in 400-year eras that begin in March (Hinnant's algorithm)."""
    era, of_era = divmod(days + 719_468, 146_097)
    year_of_era = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    day_of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return year_of_era + era * 400 + (month <= 2), month, day_of_year - (153 * shifted + 2) // 5 + 1
