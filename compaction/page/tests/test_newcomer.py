"""What somebody who has never seen the page looks for: where a save leads, whose figures these are, what stands folded away."""

from __future__ import annotations

import pytest

from compaction.page.tests.test_beside import profile, see, session
from compaction.services import engine
from tests.reading import words

__all__ = ["profile", "see", "session"]


def test_a_save_leads_to_the_rows_it_asks_to_be_written(see):
    page = see("?saved=1")
    note = page[page.index('class="note saved"') :]
    assert '<a href="#export">' in note[: note.index("</div></div>")]
    assert 'id="export"' in page


def test_the_chart_names_its_session_and_leads_to_the_picker(see, session):
    led = '<a class="any" href="#id_session">The secret plan'
    assert led in see(f"?session={session.pk}")
    assert led not in see("?session=none")


def test_without_a_session_what_the_engine_holds_is_still_told(see, profile):
    assert "Revision held" not in words(see("?session=none"))
    engine.take(profile)
    told = words(see("?session=none"))
    assert "Revision held 1 Strategy held Goal-enhanced" in told
    assert "Without a session only the state of the profile is shown" in told


@pytest.mark.parametrize(
    ("typed", "told"), [("65536", "headroom 65 536 tokens"), ("6x", "headroom 6x"), ("9" * 5000, "headroom 99999")]
)
def test_the_line_of_the_folded_settings_has_units_and_keeps_what_is_no_number(see, typed, told):
    assert told in words(see(action="draft", revision=1, headroomTokens=typed))
