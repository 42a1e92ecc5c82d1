"""What stands beside the draft: sessions by what the caller may see of them, what the engine holds, what others saved meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.urls import reverse

from compaction.core.document import Op
from compaction.models import Profile
from compaction.services import engine
from compaction.services.profiles import default_of
from compaction.services.settings import mutate
from dshweb.access.models import Team, Visibility
from dshweb.sessionlog.models import Session
from dshweb.sessionlog.services.ingest import Import, ingest_file
from tests.reading import words

CORPUS = Path(__file__).parents[3] / "tests" / "data" / "corpus"
FITTING = (Op("set", "headroomTokens", 0), Op("set", "maxTokens", 1000), Op("set", "retainTokens", 200))


@pytest.fixture
def session(people, data_dir) -> Session:
    path = next((CORPUS / "continued-headless").rglob("session*.jsonl*"))
    ingest_file(path, run=Import.by(people.team, people.alice, inline=True))
    Session.unscoped.update(title="The secret plan")
    return Session.unscoped.get()


@pytest.fixture
def profile(people) -> Profile:
    return mutate(default_of(people.team), FITTING, 0, by=people.alice).profile


@pytest.fixture
def see(client, people, profile):
    def page(query="", who="alice", lang="en", **sent) -> str:
        client.force_login(getattr(people, who))
        address = reverse("profile-settings", args=[profile.pk]) + query
        answer = client.post(address, sent) if sent else client.get(address, headers={"accept-language": lang})
        return answer.content.decode()

    return page


def test_titles_of_sessions_are_for_those_who_may_see_their_content(see, people, session):
    assert "The secret plan" in see(who="bob")
    Team.objects.filter(pk=people.team.pk).update(content_visibility=Visibility.OWNER)
    for who, shown in (("alice", True), ("bob", False), ("vera", False)):
        page = see(who=who)
        assert ("The secret plan" in page) is shown, who
        assert session.session_id[:12] in page


def test_only_a_trigger_that_an_engine_holds_is_drawn_as_such(see, session, profile):
    draft = {"action": "draft", "revision": 1, "session": session.pk, "thresholdRatio": "0.5"}
    assert "Trigger point the engine holds" not in see(**draft), "no engine has taken settings yet"
    engine.take(profile)
    profile.refresh_from_db()
    assert "Trigger point the engine holds" in see(**draft)


def test_what_is_said_of_the_figures_is_true_of_a_draft_too_and_nothing_is_said_twice(see, session):
    text = words(see(action="draft", revision=1, session=session.pk, thresholdRatio="0.5"))
    assert "The figures use the settings on this page." in text
    assert text.count("No engine holds settings of this profile yet") == 1


def test_a_card_says_when_its_strategy_is_not_the_one_the_engine_holds(see, profile):
    assert "in force after a restart" not in see(), "no engine has taken settings yet"
    engine.take(profile)
    page = see()
    assert 'id="mode-goal-later"' not in page
    for other in ("native", "handoff"):
        assert f'aria-describedby="mode-{other}-w mode-{other}-later"' in page
        assert f'id="mode-{other}-later"' in page


def test_what_the_rules_find_in_what_the_engine_holds_is_told_until_it_is_started_again(see, people, session, profile):
    engine.take(profile)
    mutate(profile, (Op("set", "auto", value=False),), 1, by=people.alice)
    assert "The running engine:" not in words(see())
    engine.take(Profile.unscoped.get(pk=profile.pk))
    mutate(profile, (Op("unset", "auto"),), 2, by=people.alice)
    text = words(see())
    assert text.count("Automatic compaction is off; only /compact works.") == 1
    assert "The running engine: Automatic compaction is off; only /compact works." in text


def test_a_save_that_somebody_saved_after_is_told_as_a_save(see, people, profile):
    mutate(profile, (Op("set", "auto", value=False),), 1, by=people.alice)
    text = words(see("?saved=1"))
    assert "saved — reload profile" in text
    assert "Revision 1 is stored. Somebody saved after you: the page shows revision 2." in text
    assert "Somebody saved after you" not in words(see("?saved=2"))


def test_an_earlier_revision_is_a_draft_of_those_who_may_save_it(see, people, profile):
    mutate(profile, (Op("set", "headroomTokens", 4321),), 1, by=people.alice)
    assert 'value="4321"' in see("?from=1", who="vera")
    assert 'value="4321"' not in see("?from=1")


def test_a_conflict_is_told_in_words_and_an_unknown_beginning_as_unknown(see, people, profile):
    mutate(profile, (Op("set", "mode", "handoff"),), 1, by=people.alice)
    page = see(action="save", revision="77", mode="native", auto="off")
    table = words(page[page.index("set-cmp") : page.index("</table>", page.index("set-cmp"))])
    assert "mode — DSH native File hand-off" in table
    assert "auto — off default (on)" in table


def test_a_setting_that_both_made_the_same_is_no_difference(see, people, profile):
    mutate(profile, (Op("set", "mode", "native"), Op("set", "thresholdRatio", 0.6)), 1, by=people.alice)
    page = see(action="save", revision="1", mode="native", thresholdRatio="0.5")
    assert page.count('class="differs"') == 1
