"""Writing the saved settings into the profile's file and reading it in – and everything that is in the way."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest
from django.db import connection
from django.urls import reverse

from compaction import selectors
from compaction.core.document import Op
from compaction.core.patch_rows import read_patch
from compaction.models import Profile
from compaction.page.tests.conftest import FILE
from compaction.services import patch_file, patch_lock
from compaction.services.settings import mutate
from dshweb.access.models import AccessLog


def fresh(profile: Profile) -> Profile:
    return Profile.unscoped.get(pk=profile.pk)


# ---- writing


def test_writing_changes_one_row_and_says_where(profile, path, of, send):
    path.write_text(FILE)
    told = send(profile, "profile-write")
    assert "row compaction-basic, line 5" in told
    assert "Restart the DSH profile" in told
    assert "left out: Strategy" in told
    assert path.read_text() == FILE.replace("0.7 ", "0.6 ").replace("    retainTokens: 3000\n", "")
    assert of(profile).look.state == "same"
    assert AccessLog.unscoped.get(action="profile-written").user.username == "alice"


def test_the_outcome_stands_where_the_reader_comes_back_to(client, people, profile, path, of):
    path.write_text(FILE)
    client.force_login(people.alice)
    sent = {"form": "compaction-basic", "digest": of(profile).file_digest, "revision": 1}
    answer = client.post(reverse("profile-write", args=[profile.pk]), sent, follow=True)
    card = answer.content.decode().partition('id="export-file"')[2]
    assert "Written into the file: row compaction-basic, line 5." in card
    again = client.get(reverse("profile-settings", args=[profile.pk])).content.decode()
    assert "Written into the file" not in again


def test_writing_what_stands_there_says_so(profile, path, send):
    path.write_text(FILE)
    send(profile, "profile-write")
    before = path.stat().st_mtime_ns
    assert "already said so" in send(profile, "profile-write")
    assert path.stat().st_mtime_ns == before
    assert AccessLog.unscoped.filter(action="profile-written").count() == 1


def test_a_file_that_is_not_there_yet_is_made(profile, path, of, send):
    assert (of(profile).look.state, of(profile).file_digest) == ("absent", "absent")
    assert "Written into the file" in send(profile, "profile-write", form="dsh-better-compact")
    assert read_patch(path.read_text()).chosen.document == {"mode": "handoff", "thresholdRatio": 0.6}


def test_expressions_stay_and_are_named(profile, path, send, of):
    path.write_text('- id: compaction-basic\n  config:\n    headroomTokens: !!js "env.H"\n    thresholdRatio: 0.7\n')
    assert of(profile).look.computed == "Headroom"
    assert "left as they are: Headroom" in send(profile, "profile-write")
    assert 'headroomTokens: !!js "env.H"' in path.read_text()
    assert of(profile).look.state == "same"


def test_an_expression_where_we_have_a_value_is_not_overwritten(profile, path, send, of):
    text = '- id: compaction-basic\n  config:\n    thresholdRatio: !!js "env.T"\n'
    path.write_text(text)
    assert of(profile).look.state == "differs"
    told = send(profile, "profile-write")
    assert "left as it is" in told
    assert "Paste the row into it yourself" in told
    assert path.read_text() == text


def test_who_comes_second_overwrites_nothing_and_sees_both_sides(profile, path, of, send):
    path.write_text(FILE)
    mine, theirs = of(profile), of(profile)
    assert "Written into the file" in send(profile, "profile-write", looked=theirs)
    path.write_text(path.read_text().replace("0.6", "0.5"))
    before = path.read_text()
    told = send(profile, "profile-write", looked=mine)
    assert "Nothing was written. The file was changed by others after you looked at it." in told
    assert path.read_text() == before
    assert [(one.before, one.after) for one in of(profile).look.differences] == [("0.6", "0.5")]
    assert "Written into the file" in send(profile, "profile-write")  # looked again


def test_of_two_that_write_at_once_one_is_told(profile, path, of, client, people, transactional_db):
    """Two requests that were made of the same look; the file holds the settings once."""
    path.write_text(FILE)
    digest, told = of(profile).file_digest, []

    def write() -> None:
        try:
            told.append(patch_file.write_out(fresh(profile), "dsh-better-compact", expected_digest=digest).changed)
        except patch_file.FileChanged:
            told.append("changed")
        finally:
            connection.close()

    threads = [threading.Thread(target=write) for _ in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(map(str, told)) == ["True", "changed"]
    assert path.read_text().count("dsh-better-compact") == 1


def test_settings_saved_in_between_are_not_written_unseen(profile, path, of, send, people):
    path.write_text(FILE)
    looked = of(profile)
    mutate(profile, (Op("set", "thresholdRatio", 0.5),), 1, by=people.alice)
    for name in ("profile-write", "profile-read"):
        assert "they are at revision 2 now" in send(profile, name, looked=looked)
    assert path.read_text() == FILE
    assert fresh(profile).revision == 2


def test_a_folder_that_another_process_holds_is_left_alone(profile, path, send, monkeypatch):
    path.write_text(FILE)
    monkeypatch.setattr(patch_lock, "WAIT_SECONDS", 0.05)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        path.with_name(patch_lock.NAME).write_text(f"{other.pid}\n")
        told = send(profile, "profile-write")
        other.stdin.close()
    assert f"Another process ({other.pid}) holds" in told
    assert path.read_text() == FILE


def test_what_cannot_be_changed_exactly_stays(profile, path, send, of):
    path.write_text(FILE.replace("\n    retain", "\u2028\n    retain"))
    before = path.read_bytes()
    told = send(profile, "profile-write")
    assert "cannot be changed exactly" in told
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "sent",
    [
        {"form": "x"},
        {"form": ""},
        {"digest": ""},
        {"digest": "absent2"},
        {"digest": "A" * 64},
        {"revision": ""},
        {"revision": "-1"},
    ],
)
def test_a_form_of_somebody_elses_making_writes_nothing(profile, path, send, sent):
    path.write_text(FILE)
    assert send(profile, "profile-write", **sent)
    assert path.read_text() == FILE


# ---- reading


def test_reading_the_file_makes_a_revision_and_keeps_the_one_before(profile, path, send, of):
    path.write_text(FILE)
    told = send(profile, "profile-read")
    assert "saved as revision 2" in told
    assert fresh(profile).document == {"mode": "handoff", "thresholdRatio": 0.7, "retainTokens": 3000}
    assert [row.origin for row in selectors.history(profile).order_by("revision")] == ["saved", "imported"]
    assert path.read_text() == FILE
    assert of(profile).look.state == "same"
    assert "nothing changed" in send(profile, "profile-read")


def test_a_file_that_changed_since_the_look_is_not_read(profile, path, send, of):
    path.write_text(FILE)
    looked = of(profile)
    path.write_text(FILE.replace("0.7", "0.5"))
    assert "Nothing was saved. The file was changed" in send(profile, "profile-read", looked=looked)
    assert fresh(profile).revision == 1


def test_what_dsh_would_refuse_is_not_read(profile, path, send, of):
    path.write_text("- id: compaction-basic\n  config: { thresholdRatio: 2 }\n")
    assert not of(profile).look.taken
    assert "DSH would refuse" in send(profile, "profile-read")
    path.write_text("- id: other\n  config: {}\n")
    assert of(profile).look.state == "no-row"
    assert "no row with compaction settings" in send(profile, "profile-read")
    assert fresh(profile).revision == 1


def test_what_a_hostile_file_is_refused_for_is_told_without_its_hidden_characters(profile, path, send):
    path.write_text('- id: dsh-better-compact\n  config: { "<b>\\u202ex\\u001b[1m": 1 }\n')
    told = send(profile, "profile-read")
    assert "DSH would refuse" in told
    assert "\u202e" not in told
    assert "\x1b" not in told
    assert fresh(profile).revision == 1


def test_computed_values_are_named_when_they_are_left_out(profile, path, send):
    path.write_text('- id: compaction-basic\n  config:\n    headroomTokens: !!js "env.H"\n    thresholdRatio: 0.7\n')
    assert "left out: Headroom" in send(profile, "profile-read")
    assert fresh(profile).document == {"mode": "handoff", "thresholdRatio": 0.7}


def test_more_than_one_row_is_warned_of(profile, path, of):
    path.write_text(FILE + "- id: dsh-better-compact\n  disabled: true\n  config: { mode: goal }\n")
    assert "more than one row (lines 5, 9)" in of(profile).look.warnings[0]


# ---- who may


@pytest.mark.parametrize("name", ["profile-write", "profile-read"])
@pytest.mark.parametrize(("who", "status"), [("bob", 403), ("vera", 403), ("mallory", 404)])
def test_only_admins_of_the_team_touch_the_file(client, people, profile, path, of, name, who, status):
    path.write_text(FILE)
    looked = of(profile)
    client.force_login(getattr(people, who))
    sent = {"form": "compaction-basic", "digest": looked.file_digest, "revision": 1}
    assert client.post(reverse(name, args=[profile.pk]), sent).status_code == status
    assert client.get(reverse(name, args=[profile.pk])).status_code == 405
    assert (path.read_text(), fresh(profile).revision) == (FILE, 1)
