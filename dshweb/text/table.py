"""Tables for spreadsheets: RFC 4180 with a header. What a cell holds is shown by the program that opens it, never run."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dshweb.text.lines import visible

BOM = "\ufeff"  # without it spreadsheets take Chinese for something else
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


class _Echo:
    """A file for `csv` that gives back what is written: `writerow` then returns the line."""

    def write(self, text: str) -> str:
        return text


def table(columns: Sequence[str], rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    """The lines of a table, made as they are asked for."""
    writer = csv.writer(_Echo())
    yield BOM + writer.writerow(columns)
    for row in rows:
        yield writer.writerow([cell(value) for value in row])


def cell(value: Any) -> Any:
    """A value as a cell: unknown is empty; text is shown, never run, so one like a formula begins with an apostrophe."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return value
    text = visible(value)
    return f"'{text}" if value.startswith(_FORMULA) or text.lstrip().startswith(_FORMULA) else text
