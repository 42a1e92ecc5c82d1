"""The configuration table of both READMEs names every setting and its default, and no other."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from dshweb.settings import env

ROOT = Path(__file__).resolve().parent.parent
ROW = re.compile(r"^\| `([A-Z_]+)` \| [^|]+ \| (`[^`|]*`|–) \|", re.MULTILINE)


def rows(text: str) -> dict[str, str]:
    """Name → default of the table rows in `text`."""
    return {name: default.strip("`").replace("–", "") for name, default in ROW.findall(text)}


def declared() -> dict[str, str]:
    return {row.name: row.default for row in env.declared}


def test_the_command_prints_every_setting():
    out = StringIO()
    call_command("settings_table", stdout=out)
    assert rows(out.getvalue()) == declared()
    assert len(declared()) == len(env.declared)
    assert all(row.meaning for row in env.declared)


@pytest.mark.parametrize("name", ["README.md", "README.zh.md"])
def test_the_readme_has_the_table(name):
    path = ROOT / name
    if not path.exists():
        pytest.skip(f"{name} is not written yet")
    assert rows(path.read_text(encoding="utf-8")) == declared()
