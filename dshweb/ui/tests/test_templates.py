"""Rules for every template and style sheet, checked on their text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.template.loader import get_template

TEMPLATES = sorted((Path(settings.BASE_DIR) / "templates").rglob("*.html"))
STYLES = sorted((Path(settings.BASE_DIR) / "static" / "css").glob("*.css"))
NAMES = [str(path.relative_to(settings.BASE_DIR)) for path in TEMPLATES]


@pytest.mark.parametrize("path", TEMPLATES, ids=NAMES)
def test_a_template_compiles_and_keeps_style_and_script_outside(path):
    text = path.read_text()
    get_template(str(path.relative_to(Path(settings.BASE_DIR) / "templates")))
    assert not re.search(r"\sstyle=", text), "inline style"
    assert not re.search(r"<style\b", text), "inline style sheet"
    assert not re.search(r"<script(?![^>]*\ssrc=)", text), "inline script"
    assert not re.search(r"\son[a-z]+=", text), "inline handler"
    assert "javascript:" not in text
    assert "|safe" not in text.replace("help_text|safe", ""), "only the help of Django's own form fields is HTML"
    assert "autoescape off" not in text


@pytest.mark.parametrize("path", TEMPLATES, ids=NAMES)
def test_a_template_never_puts_zero_for_unknown(path):
    assert not re.search(r"""default(_if_none)?:\s*["']?0""", path.read_text())


@pytest.mark.parametrize("path", [path for path in STYLES if path.name != "tokens.css"], ids=lambda path: path.name)
def test_colours_stand_in_tokens_only(path):
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
    found = re.findall(r"#[0-9a-fA-F]{3,8}\b|\b(?:rgb|hsl|oklch)\([^)]*\)", text)
    assert not found


def test_every_name_a_style_uses_is_a_token():
    defined = set(
        re.findall(r"(--[a-z0-9-]+):", (Path(settings.BASE_DIR) / "static" / "css" / "tokens.css").read_text())
    )
    for path in STYLES:
        assert set(re.findall(r"var\((--[a-z0-9-]+)", path.read_text())) <= defined, path.name


def test_every_icon_used_is_drawn():
    drawn = set(
        re.findall(r'<symbol id="([a-z]+)"', (Path(settings.BASE_DIR) / "static" / "img" / "icons.svg").read_text())
    )
    used = {name for path in TEMPLATES for name in re.findall(r'{% icon "([a-z]+)" %}', path.read_text())}
    from audit.words import KINDS

    assert used | {icon for _words, icon, _tone in KINDS.values()} <= drawn
