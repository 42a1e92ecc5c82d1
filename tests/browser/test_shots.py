"""The pictures of the documents are those that `make pictures` takes, and small."""

from __future__ import annotations

from pathlib import Path

from tests.browser.shots_docs import PICTURES

FOLDER = Path(__file__).parents[2] / "docs" / "screenshots"


def test_the_pictures_are_those_that_are_taken_and_stay_small():
    sizes = {path.name: path.stat().st_size for path in FOLDER.iterdir()}
    assert set(sizes) == {f"{one.name}.png" for one in PICTURES}
    assert {name: size for name, size in sizes.items() if size > 120_000} == {}
