"""The settings page: who may do what, one save with one revision, conflicts, what is shown of a session, without scripts."""

from __future__ import annotations

import html
import re

import pytest
from django.urls import reverse

from compaction.core.document import Op
from compaction.models import Profile, SettingsRevision
from compaction.services import engine
from compaction.services.profiles import default_of
from compaction.services.settings import mutate
from tests.reading import words

pytestmark = pytest.mark.django_db


@pytest.fixture
def profile(people) -> Profile:
    return default_of(people.team)


@pytest.fixture
def url(profile) -> str:
    return reverse("profile-settings", args=[profile.pk])


@pytest.fixture
def alice(client, people):
    client.force_login(people.alice)
    return client


def fields(page: str) -> dict[str, object]:
    """What a browser would send of the form on the page, buttons aside."""
    form = page[page.index('id="draft"') : page.index("</form>", page.index('id="draft"'))]
    form = re.sub(r"<fieldset[^>]*\sdisabled[^>]*>.*?</fieldset>", "", form, flags=re.DOTALL)
    sent: dict[str, object] = {}
    for tag in re.findall(r"<input\b[^>]*>", form):
        name = re.search(r'\sname="([^"]*)"', tag)
        kind = re.search(r'\stype="([^"]*)"', tag)
        value = re.search(r'\svalue="([^"]*)"', tag)
        if not name or " disabled" in tag:
            continue
        if kind and kind[1] in ("radio", "checkbox") and " checked" not in tag:
            continue
        text = html.unescape(value[1]) if value else "on"
        if name[1] == "plain":
            sent.setdefault("plain", []).append(text)
        else:
            sent[name[1]] = text
    for select in re.findall(r"<select\b[^>]*>.*?</select>", form, re.DOTALL):
        name = re.search(r'\sname="([^"]*)"', select)[1]
        chosen = re.search(r'<option(?=[^>]*\sselected)[^>]*\svalue="([^"]*)"', select) or re.search(
            r'<option[^>]*\svalue="([^"]*)"', select
        )
        sent[name] = html.unescape(chosen[1])
    return sent


def send(client, url: str, page: str, **changes):
    return client.post(url, fields(page) | changes)


def test_saving_is_one_mutation_with_one_revision_and_says_so(alice, url, profile):
    page = alice.get(url).content.decode()
    answer = send(alice, url, page, action="save", thresholdRatio="0.7", retainForm="tokens", retainTokens="60 000")
    assert answer.status_code == 302
    profile.refresh_from_db()
    assert (profile.revision, profile.document) == (1, {"thresholdRatio": 0.7, "retainTokens": 60_000})
    assert SettingsRevision.unscoped.count() == 1
    after = alice.get(answer["location"]).content.decode()
    assert "saved — reload profile" in after
    assert "Revision 1 is stored." in words(after)
    assert "saved — reload profile" not in alice.get(url + "?saved=7").content.decode()


def test_nothing_is_saved_by_showing_a_draft(alice, url, profile):
    page = send(
        alice, url, alice.get(url).content.decode(), action="draft", mode="native", headroomTokens="1000"
    ).content.decode()
    profile.refresh_from_db()
    assert profile.revision == 0
    assert 'data-changes="2"' in page
    assert fields(page)["headroomTokens"] == "1000"
    assert fields(page)["mode"] == "native"


def test_a_refused_save_keeps_the_draft_and_shows_no_success(alice, url, profile):
    answer = send(alice, url, alice.get(url).content.decode(), action="save", thresholdRatio="1", headroomTokens="lots")
    assert answer.status_code == 422
    page = answer.content.decode()
    assert "Nothing was saved; your draft is kept." in words(page)
    assert "saved — reload profile" not in page
    assert fields(page)["headroomTokens"] == "lots"
    assert page.count('aria-invalid="true"') == 2
    profile.refresh_from_db()
    assert profile.revision == 0


def test_who_comes_second_sees_both_sides_and_overwrites_nothing(alice, people, url, profile):
    mutate(profile, (Op("set", "headroomTokens", 1000), Op("set", "auto", value=False)), 0, by=people.alice)
    page = alice.get(url).content.decode()
    mutate(profile, (Op("set", "mode", "handoff"), Op("set", "headroomTokens", 2000)), 1, by=people.bob)
    answer = send(alice, url, page, action="save", headroomTokens="3000", thresholdRatio="0.6")
    assert answer.status_code == 409
    shown = answer.content.decode()
    text = words(shown)
    assert "Somebody else saved while you were editing" in text
    assert "revision 1 → 2" in text
    table = words(shown[shown.index("set-cmp") : shown.index("</table>", shown.index("set-cmp"))])
    assert re.search(r"headroomTokens 1.000 tokens 3.000 tokens yours 2.000 tokens edited", table)
    assert re.search(r"thresholdRatio default \(0.8\) 0.6 yours default \(0.8\)", table)
    assert "auto" not in table
    assert re.search(r"<button[^>]*data-save[^>]* disabled", shown), "saving is off"
    profile.refresh_from_db()
    assert (profile.revision, profile.document["headroomTokens"]) == (2, 2000)

    again = send(alice, url, shown, action="save")
    assert again.status_code == 409, "the same draft is still on the old revision"
    put = send(alice, url, shown, action="rebase").content.decode()
    assert fields(put)["revision"] == "2"
    assert fields(put)["mode"] == "handoff", "theirs, where I changed nothing"
    assert fields(put)["headroomTokens"] == "3000"
    assert send(alice, url, put, action="save").status_code == 302
    profile.refresh_from_db()
    assert profile.document == {"mode": "handoff", "auto": False, "thresholdRatio": 0.6, "headroomTokens": 3000}


def test_a_save_whose_answer_was_lost_is_told_to_be_saved_already(alice, url):
    page = alice.get(url).content.decode()
    assert send(alice, url, page, action="save", auto="off").status_code == 302
    again = send(alice, url, page, action="save", auto="off")
    assert again.status_code == 409
    assert "These values are saved already" in words(again.content.decode())


def test_an_earlier_revision_comes_back_as_a_draft(alice, people, url, profile):
    mutate(profile, (Op("set", "auto", value=False),), 0, by=people.alice)
    mutate(profile, (Op("unset", "auto"), Op("set", "mode", "native")), 1, by=people.alice)
    page = alice.get(url + "?from=1").content.decode()
    assert (fields(page)["revision"], fields(page)["mode"], fields(page)["auto"]) == ("2", "goal", "off")
    assert send(alice, url, page, action="save").status_code == 302
    profile.refresh_from_db()
    assert (profile.revision, profile.document) == (3, {"auto": False})
    assert alice.get(url + "?from=9").status_code == 404
    assert alice.get(url + "?from=x").status_code == 404


def test_native_keeps_the_enhanced_values_and_says_they_do_not_apply(alice, people, url, profile):
    mutate(profile, (Op("set", "reasoningEffort", "high"), Op("set", "cachePriority", value=False)), 0, by=people.alice)
    page = send(alice, url, alice.get(url).content.decode(), action="draft", mode="native").content.decode()
    assert words(page).count("Not applicable: the native implementation decides") == 2
    assert send(alice, url, page, action="save").status_code == 302
    profile.refresh_from_db()
    assert profile.document == {"mode": "native", "reasoningEffort": "high", "cachePriority": False}


def test_settings_of_single_models_are_shown_and_never_dropped(alice, people, url, profile):
    own = [{"provider": "p", "model": "<m>", "thresholdRatio": 0.5}]
    mutate(profile, (Op("set", "modelPolicies", own),), 0, by=people.alice)
    page = alice.get(url).content.decode()
    assert "p/&lt;m&gt;" in page
    assert "Threshold 0.5" in words(page)
    assert send(alice, url, page, action="save", compactionRetries="3").status_code == 302
    profile.refresh_from_db()
    assert profile.document["modelPolicies"] == own


@pytest.mark.parametrize("effort", ["x" * 70, " high ", "a\nb", "a\u202eb", ""])
def test_a_text_that_a_field_shows_otherwise_is_unchanged_until_it_is_typed_over(alice, people, url, profile, effort):
    mutate(profile, (Op("set", "reasoningEffort", effort), Op("set", "mode", "goal")), 0, by=people.alice)
    for mode in ("goal", "native"):
        mutate(profile, (Op("set", "mode", mode),), 2 if mode == "native" else 1, by=people.alice)
        page = alice.get(url).content.decode()
        alice.post(url, fields(page) | {"action": "save", "thresholdRatio": "0.5" if mode == "goal" else "0.6"})
        profile.refresh_from_db()
        assert profile.document["reasoningEffort"] == effort
    alice.post(url, fields(alice.get(url).content.decode()) | {"action": "save", "reasoningEffort": " low "})
    profile.refresh_from_db()
    assert profile.document["reasoningEffort"] == "low"


def test_a_model_that_is_not_allowed_is_kept_and_marked_and_a_wrong_effort_is_refused(alice, people, url, profile):
    pair = (Op("set", "summarizationProvider", "mine"), Op("set", "summarizationModel", "own-model"))
    mutate(profile, pair, 0, by=people.alice)
    page = alice.get(url).content.decode()
    assert "mine/own-model – not among the allowed models" in words(page)
    assert send(alice, url, page, action="save", compactionRetries="2").status_code == 302
    answer = send(
        alice, url, alice.get(url).content.decode(), action="save", route='["deepseek-official","deepseek-flash"]',
        reasoningEffort="enormous",
    )  # fmt: skip
    assert answer.status_code == 422
    assert "not an effort of this model" in words(answer.content.decode())
    unknown = send(
        alice, url, alice.get(url).content.decode(), action="draft", reasoningEffort="enormous"
    ).content.decode()
    assert "Capability unknown" in words(unknown)
    assert 'data-errors="0"' in unknown


def test_what_the_engine_holds_is_told_when_it_differs(alice, people, url, profile):
    assert "No engine holds settings of this profile yet" in words(alice.get(url).content.decode())
    engine.take(profile)
    assert "The engine holds other settings" not in words(alice.get(url).content.decode())
    mutate(profile, (Op("set", "mode", "native"),), 0, by=people.alice)
    text = words(alice.get(url).content.decode())
    assert "The engine holds other settings." in text
    assert re.search(r"Saved \(revision 1\): +DSH native *\. The running engine took revision 0: +Goal-enhanced", text)


def test_who_may_read_and_who_may_change(client, people, url):
    client.force_login(people.alice)
    page = client.get(url).content.decode()
    for who, read, change in ((people.bob, 200, 403), (people.vera, 200, 403), (people.mallory, 404, 404)):
        client.force_login(who)
        assert client.get(url).status_code == read
        assert send(client, url, page, action="save", auto="off").status_code == change
        assert send(client, url, page, action="draft").status_code == change
    client.force_login(people.vera)
    text = client.get(url).content.decode()
    assert "data-save" not in text
    assert "You can read these settings; admins of the team change them." in words(text)
    client.logout()
    assert client.get(url).status_code == 302


@pytest.mark.parametrize("sent", [{}, {"revision": "x"}, {"revision": "-1"}, {"revision": "9" * 30}])
def test_a_form_without_a_revision_is_no_form(alice, url, sent):
    assert alice.post(url, sent).status_code == 400


def test_a_revision_that_never_was_is_a_conflict(alice, url, profile):
    answer = send(alice, url, alice.get(url).content.decode(), action="save", revision="77", auto="off")
    assert answer.status_code == 409
    profile.refresh_from_db()
    assert profile.revision == 0


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>", "{{ 7|add:7 }}", "\u202e\x00\x1b[31m", "9" * 5000, "1e999", "-0", "NaN", "١٢"]
)
def test_hostile_text_in_any_field_is_shown_harmless_and_refused(alice, url, profile, text):
    page = alice.get(url).content.decode()
    for name in (
        "mode",
        "auto",
        "thresholdRatio",
        "headroomTokens",
        "maxTokens",
        "retainRatio",
        "route",
        "reasoningEffort",
        "compactionRetries",
    ):
        answer = send(alice, url, page, action="save", **{name: text})
        assert answer.status_code in (422, 302), (name, answer.status_code)
        assert "<script>alert" not in answer.content.decode()
        profile.refresh_from_db()
        if answer.status_code == 302:
            Profile.unscoped.filter(pk=profile.pk).update(revision=0, document={})
            SettingsRevision.unscoped.all().delete()
