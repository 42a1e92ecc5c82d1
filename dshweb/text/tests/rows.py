"""The fixture lists: rows of tests/data/redact and of the field reports."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

DATA = Path(__file__).resolve().parents[3] / "tests" / "data"


class Row(NamedTuple):
    name: str
    secret: str
    text: str


def _plain(text: str) -> str:
    return text.replace("\\\\", "\0").replace("\\n", "\n").replace("\0", "\\")


def must_mask() -> list[Row]:
    lines = (DATA / "redact/must-mask.tsv").read_text("utf-8").split("\n")
    cells = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return [Row(name, secret.replace("\\\\", "\\"), _plain(text)) for name, secret, text in cells]


def must_not_mask() -> list[str]:
    return [line for line in (DATA / "redact/must-not-mask.txt").read_text("utf-8").split("\n") if line]


def field(name: str) -> list[str]:
    return (DATA / "field/secrets" / name).read_text("utf-8").splitlines()
