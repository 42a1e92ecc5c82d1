"""The export: rows to paste, and the look at the profile's file, whatever stands in its place."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.translation import override

from compaction import selectors
from compaction.core.document import Op
from compaction.core.patch_rows import read_patch
from compaction.core.patch_yaml import PatchError
from compaction.page import export, patch_words
from compaction.page.tests.conftest import FILE
from compaction.services.settings import mutate
from dshweb.access.callers import caller_for_user

# ---- the rows


def test_both_rows_read_back_as_what_is_saved(profile, of):
    better, native = of(profile, "vera").rows
    assert read_patch(better.text).chosen.document == {"mode": "handoff", "thresholdRatio": 0.6}
    assert read_patch(native.text).chosen.document == {"thresholdRatio": 0.6}
    assert (better.left_out, native.left_out) == ("", "Strategy")


def test_the_page_says_which_row_where_and_escapes_what_it_shows(profile, people, html):
    ops = (Op("set", "summarizationProvider", "</code><script>x"), Op("set", "summarizationModel", "m"))
    mutate(profile, ops, 1, by=people.alice)
    shown = html(profile)
    assert "in which the plugin dsh-better-compact is installed" in shown
    assert "For a DSH without that plugin" in shown
    assert "<script>" not in shown
    assert shown.count("data-copy") == 4


@pytest.mark.parametrize(
    ("name", "machine", "says"),
    [
        ("web", "", "web"),
        ("my web", "", "'my web'"),
        ("a'; rm -rf /", "", "'a'\"'\"'; rm -rf /'"),
        ("web", "m", "PK"),
        ("-x", "", "PK"),
    ],
)
def test_the_command_finds_the_profile(profile, people, name, machine, says):
    profile.name, profile.machine = name, machine
    assert export.command_name(profile) == says.replace("PK", str(profile.pk)) + " --team ours"


# ---- the look at the file


def test_a_profile_without_a_file_says_how_to_get_one(profile, html, of):
    profile.path = ""
    profile.save()
    assert of(profile).look is None
    assert "names no file on this server" in html(profile)
    assert "profile-write" not in html(profile)


def test_what_the_file_holds_stands_beside_what_is_saved(profile, path, of, html):
    path.write_text(FILE)
    look = of(profile).look
    assert (look.state, look.form, look.line) == ("differs", "compaction-basic", 5)
    assert [(one.key, one.before, one.after) for one in look.differences] == [
        ("thresholdRatio", "0.6", "0.7"),
        ("retainTokens", "not set", "3\u202f000 tokens"),
    ]
    assert look.unknown == "Strategy"
    shown = html(profile)
    assert "Write to profile" in shown
    assert "Read the file into the settings" in shown
    assert "SECRET_KEY" not in shown


@pytest.mark.parametrize("who", ["bob", "vera"])
def test_who_may_not_write_causes_no_look_and_sees_no_path(profile, path, html, of, who):
    path.write_text(FILE)
    seen = of(profile, who)
    assert (seen.look, seen.path, seen.may_write) == (None, "", False)
    shown = html(profile, who)
    assert "<form" not in shown
    assert str(path.parent) not in shown
    assert "compaction-basic" in shown


def test_only_who_runs_the_server_reads_the_path(profile, path, people, html):
    path.write_text(FILE)
    assert str(path) not in html(profile)
    people.alice.is_staff = True
    people.alice.save()
    assert str(path) in html(profile)


BAD = {
    "not YAML": b"- id: [",
    "no list": b"a: 1\n",
    "empty": b"",
    "not UTF-8": b"- id: \xff\n",
    "binary": b"\0\1\2",
    "huge": b"x" * 600_000,
    "large": b"- id: a\n" * 20_000,
    "too long to compare": b"# " + b"x" * 70_000 + b"\n- id: a\n",
    "many brackets": b"[" * 5000,
    "odd config": b"- id: compaction-basic\n  config: 3\n",
    "a key twice": b"- id: compaction-basic\n  config: {}\n  config: {}\n",
    "odd numbers": b"- id: compaction-basic\n  config: { thresholdRatio: .inf, retainTokens: .nan, maxTokens: 1e400 }\n",
    "odd values": b"- id: dsh-better-compact\n  config: { mode: [1, {a: ~}], nobody: 2, auto: ~ }\n",
    "only expressions": b'- id: compaction-basic\n  config: { thresholdRatio: !!js "<b>x</b>" }\n',
}


@pytest.mark.parametrize("raw", BAD.values(), ids=BAD.keys())
def test_whatever_the_file_holds_the_page_stands(profile, path, html, of, send, raw):
    path.write_bytes(raw)
    shown = html(profile)
    assert "The profile&#x27;s file" in shown or "The profile's file" in shown
    assert str(path.parent) not in shown
    assert "<b>x</b>" not in shown
    for name in ("profile-write", "profile-read"):
        told = send(profile, name, digest=of(profile).file_digest or "0" * 64)
        assert told
        assert str(path.parent) not in told


def test_what_is_no_file_is_told_at_once(profile, path, of):
    os.mkfifo(path)
    assert of(profile).look.state == "broken"
    path.unlink()
    path.mkdir()
    assert of(profile).look.state in ("broken", "unreachable")
    path.rmdir()
    path.symlink_to(path)
    assert of(profile).look.state == "unreachable"
    profile.path = str(path.parent / "none" / "cordis.patch.yml")
    profile.save()
    look = of(profile).look
    assert (look.state, look.words, look.writable) == ("unreachable", "Its folder is not there.", False)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_told(profile, path, of):
    path.write_text(FILE)
    path.chmod(0)
    assert "may not" in of(profile).look.words


def test_a_look_asks_the_database_nothing(profile, path, people):
    path.write_text(FILE)
    caller = caller_for_user(people.alice)
    row = selectors.profiles(caller).get(pk=profile.pk)
    with CaptureQueriesContext(connection) as asked:
        export.of(row, caller)
    assert len(asked) == 0


def test_a_file_changed_by_others_since_is_told(profile, path, of, send):
    path.write_text(FILE)
    assert of(profile).changed_note == ""  # never looked at before
    send(profile, "profile-write")
    assert of(profile).changed_note == ""
    path.write_text(path.read_text() + "# theirs\n")
    assert "changed by others" in of(profile).changed_note


# ---- the words


def test_every_code_of_a_patch_file_has_words_in_every_language():
    core = Path(export.__file__).parents[1] / "core"
    found = {
        code
        for file in (*core.glob("patch_*.py"), core.parent / "services" / "patch_file.py")
        for code in re.findall(r'PatchError\(\s*"([a-z0-9-]+)"', file.read_text())
    }
    assert len(found) > 15
    assert found == set(patch_words.WORDS)
    with override("zh-hans"):
        assert patch_words.of_patch(PatchError("brand-new", "x", 3))
