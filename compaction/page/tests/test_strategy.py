"""The three cards of strategies: a radio group that needs no script, each card with a drawing of its own."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from django.conf import settings
from django.template.loader import render_to_string

from compaction.page.controls import modes

VALUES = ("native", "goal", "handoff")
NARROWEST = 252
"""Pixels a drawing has on a page 320 px wide (measured in Chromium with `static/css/settings.css`)."""
SVG = re.compile(r'<svg class="art"[^>]*role="img".*?</svg>', re.DOTALL)


class Tags(HTMLParser):
    """Every start tag with its attributes, in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def named(self, name: str) -> list[dict[str, str | None]]:
        return [attrs for tag, attrs in self.seen if tag == name]


def cards(checked: str = "goal", *, read_only: bool = False) -> str:
    return render_to_string("compaction/_strategy.html", {"modes": modes(checked), "read_only": read_only})


def drawings(text: str) -> list[ElementTree.Element]:
    return [ElementTree.fromstring(one) for one in SVG.findall(text)]


def css() -> str:
    return (Path(settings.BASE_DIR) / "static/css/settings.css").read_text()


@pytest.mark.parametrize("chosen", VALUES)
def test_exactly_the_chosen_mode_is_checked(chosen: str) -> None:
    radios = Tags(cards(chosen)).named("input")
    assert [one["value"] for one in radios] == list(VALUES)
    assert {one["name"] for one in radios} == {"mode"}
    assert [one["value"] for one in radios if "checked" in one] == [chosen]
    assert not any("disabled" in one for one in radios)


def test_an_unknown_mode_checks_nothing() -> None:
    assert not any("checked" in one for one in Tags(cards("other")).named("input"))


def test_a_reader_sees_the_choice_but_cannot_change_it() -> None:
    radios = Tags(cards("handoff", read_only=True)).named("input")
    assert all("disabled" in one for one in radios)
    assert [one["value"] for one in radios if "checked" in one] == ["handoff"]


def test_only_the_product_default_wears_the_badge() -> None:
    by_card = cards("native").split('<label class="mode">')[1:]
    assert [">default</span>" in one for one in by_card] == [False, True, False]


def test_names_refer_to_things_that_are_there_once() -> None:
    tags = Tags(cards())
    ids = [attrs["id"] for _, attrs in tags.seen if "id" in attrs]
    assert len(ids) == len(set(ids))
    referred = [attrs[key] for _, attrs in tags.seen for key in ("aria-labelledby", "aria-describedby") if key in attrs]
    assert len(referred) >= 2 + 2 * 6
    assert set(referred) <= set(ids)


def test_each_card_has_its_own_titled_drawing() -> None:
    drawn = drawings(cards())
    assert len(drawn) == 3
    told = []
    for one in drawn:
        title, desc = one.find("title"), one.find("desc")
        assert title is not None
        assert desc is not None
        assert title.text
        assert desc.text
        assert one.get("aria-labelledby") == title.get("id")
        assert one.get("aria-describedby") == desc.get("id")
        told.append(desc.text)
    assert len(set(told)) == 3


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (0, {"older history", "native summary", "native checkpoint", "recent", "kept verbatim"}),
        (
            1,
            {
                "authoritative",
                "goal, todo",
                "read-only",
                "goal",
                "constraints",
                "progress",
                "next step",
                "kept verbatim",
            },
        ),
        (2, {"state", "temporary file", "same body", "native event", "same session goes on", "kept verbatim"}),
    ],
)
def test_a_drawing_shows_what_its_strategy_does(place: int, words: set[str]) -> None:
    drawn = drawings(cards())[place]
    assert words <= {text.text for text in drawn.iter("text")}
    classes = {str(part.get("class")) for part in drawn.iter()}
    assert {"a-gone", "a-kept", "a-new"} <= classes
    assert ("a-lock" in classes) == (place == 1)


def test_drawings_take_their_colours_from_the_tokens() -> None:
    for one in drawings(cards()):
        for part in one.iter():
            assert not {"fill", "stroke", "style", "font-size", "onclick"} & set(part.attrib)
    rules = css()
    assert not re.search(r"#[0-9a-fA-F]{3,8}\b|\b(rgb|hsl|oklch)\(", rules)


def test_text_of_drawings_stays_readable_on_the_narrowest_page() -> None:
    size = re.search(r"\.art text \{[^}]*font: 400 ([\d.]+)px", css())
    assert size is not None
    for one in drawings(cards()):
        width = float(str(one.get("viewBox")).split()[2])
        assert float(size[1]) * NARROWEST / width >= 11


def test_every_class_of_the_drawings_has_its_rule() -> None:
    used = {name for one in drawings(cards()) for part in one.iter() for name in str(part.get("class") or "").split()}
    rules = css()
    assert used
    assert [name for name in sorted(used) if not re.search(rf"\.{name}\b", rules)] == []


def test_selection_is_told_in_words_and_without_a_script() -> None:
    text = cards()
    assert text.count("✓ Selected") == 3
    assert "<script" not in text
    assert "style=" not in text
    assert ".mode > input:checked ~ .mode-h .mode-sel { display: inline; }" in css()


def test_the_caption_says_what_the_drawings_are_not() -> None:
    assert "not a live token flow or a cache hit rate" in cards()
