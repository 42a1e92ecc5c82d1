"""The file on disk: the digest that guards a write, what stays as it was."""

from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path

import pytest

from compaction.core.document import Op
from compaction.core.patch_export import CannotRoundTrip
from compaction.core.patch_yaml import PatchError
from compaction.core.problem import InvalidSettings
from compaction.models import Profile
from compaction.services import patch_file
from compaction.services.patch_lock import Locked, held
from compaction.services.profiles import default_of
from compaction.services.settings import Conflict, mutate

FILE = """# mine
- insert:
    - id: other  # stays
      name: some-plugin
      config: { key: !!js "process.env.KEY" }
- id: compaction-basic
  config:
    thresholdRatio: 0.7   # why
    retainTokens: 3000
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cordis.patch.yml"


@pytest.fixture
def profile(people, path) -> Profile:
    made = default_of(people.team)
    made.path = str(path)
    made.save()
    return made


def fresh(profile: Profile) -> Profile:
    return Profile.unscoped.get(pk=profile.pk)


def test_settings_are_read_from_a_file_and_written_back_without_touching_the_rest(profile, path, alice):
    path.write_text(FILE)
    found, saved = patch_file.read_into(profile, path, 0, by=alice)
    assert (found.chosen.line, saved.profile.document) == (6, {"thresholdRatio": 0.7, "retainTokens": 3000})
    mutate(profile, (Op("set", "thresholdRatio", 0.6),), 1, by=alice)
    made = patch_file.write_out(fresh(profile), "compaction-basic")
    assert made.changed
    assert path.read_text() == FILE.replace("0.7   # why", "0.6   # why")


@pytest.mark.parametrize(
    ("key", "stays"), [("compaction-basic", {"mode": "native", "cachePriority": False}), ("dsh-better-compact", {})]
)
def test_a_native_row_says_nothing_of_the_enhanced_settings(profile, path, alice, key, stays):
    mutate(profile, (Op("set", "mode", "native"), Op("set", "cachePriority", value=False)), 0, by=alice)
    path.write_text(f"- id: {key}\n  config: {{ retainTokens: 9 }}\n")
    _found, saved = patch_file.read_into(profile, path, 1, by=alice)
    assert saved.profile.document == {**stays, "retainTokens": 9}


def test_who_writes_without_the_lock_at_the_last_moment_is_not_overwritten(profile, path, tmp_path, monkeypatch):
    path.write_text(FILE)
    fsync = os.fsync

    def an_editor_saves(descriptor: int) -> None:
        path.write_text(FILE + "# by hand\n")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", an_editor_saves)
    with pytest.raises(patch_file.FileChanged):
        patch_file.write_out(profile, "compaction-basic")
    assert path.read_text() == FILE + "# by hand\n"
    assert sorted(entry.name for entry in tmp_path.iterdir() if entry.is_file()) == ["cordis.patch.yml"]


def test_nothing_is_written_while_dsh_holds_its_lock(profile, path, tmp_path, monkeypatch):
    path.write_text(FILE)
    lock = tmp_path / "package.json.lock"
    lock.write_text(f"{os.getppid()}\n")
    monkeypatch.setitem(held.__wrapped__.__kwdefaults__, "wait", 0.01)
    with pytest.raises(Locked):
        patch_file.write_out(profile, "compaction-basic")
    assert path.read_text() == FILE
    lock.unlink()
    assert patch_file.write_out(profile, "compaction-basic").changed
    assert not lock.exists()


def test_a_file_that_others_changed_is_not_read(profile, path, alice):
    path.write_text(FILE)
    seen = patch_file.read(path).digest
    path.write_text(FILE.replace("3000", "4000"))
    with pytest.raises(patch_file.FileChanged):
        patch_file.read_into(profile, path, 0, by=alice, expected_digest=seen)
    assert (fresh(profile).revision, fresh(profile).document) == (0, {})


def test_a_file_that_others_changed_is_not_written(profile, path, alice):
    path.write_text(FILE)
    patch_file.read_into(profile, path, 0, by=alice)
    changed = FILE.replace("3000", "4000")
    path.write_text(changed)
    mutate(profile, (Op("set", "thresholdRatio", 0.6),), 1, by=alice)
    with pytest.raises(patch_file.FileChanged):
        patch_file.write_out(fresh(profile), "compaction-basic")
    assert path.read_text() == changed
    digest = patch_file.read(path).digest
    assert patch_file.write_out(fresh(profile), "compaction-basic", expected_digest=digest).changed
    with pytest.raises(patch_file.FileChanged):
        patch_file.write_out(fresh(profile), "compaction-basic", expected_digest=digest)


def test_a_file_that_is_not_there_yet_is_made_private(profile, path):
    assert patch_file.read(path) == patch_file.PatchFile(None, "absent")
    assert patch_file.write_out(profile, "dsh-better-compact", expected_digest="absent").changed
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert fresh(profile).file_digest == patch_file.read(path).digest
    with pytest.raises(patch_file.FileChanged):
        patch_file.write_out(profile, "dsh-better-compact", expected_digest="absent")


def test_mode_and_link_stay(profile, path, tmp_path):
    kept = tmp_path / "dotfiles" / "patch.yml"
    kept.parent.mkdir()
    kept.write_text(FILE)
    kept.chmod(0o640)
    path.symlink_to(kept)
    assert patch_file.write_out(profile, "compaction-basic").changed
    assert path.is_symlink()
    assert "thresholdRatio" not in kept.read_text()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_owner_and_group_stay(profile, path):
    path.write_text(FILE)
    os.chown(path, 12345, 23456)
    assert patch_file.write_out(profile, "compaction-basic").changed
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 23456)


def test_a_file_whose_owner_cannot_be_kept_is_not_written(profile, path, tmp_path, monkeypatch):
    """As when it is another user's, in a folder that the group may write."""
    path.write_text(FILE)
    mine, fstat = path.stat(), os.fstat
    other = os.stat_result((mine.st_mode, 0, 0, 1, mine.st_uid + 1, mine.st_gid + 1, 0, 0, 0, 0))
    monkeypatch.setattr(os, "fstat", lambda descriptor: other if writable(descriptor) else fstat(descriptor))

    def refuse(*_args: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "fchown", refuse)
    with pytest.raises(PermissionError, match="owner"):
        patch_file.write_out(profile, "compaction-basic")
    assert path.read_text() == FILE
    assert sorted(entry.name for entry in tmp_path.iterdir() if entry.is_file()) == ["cordis.patch.yml"]


def writable(descriptor: int) -> bool:
    return fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY


def test_nothing_of_a_write_lies_about_afterwards(profile, path, tmp_path):
    path.write_text(FILE)
    patch_file.write_out(profile, "compaction-basic")
    assert sorted(entry.name for entry in tmp_path.iterdir() if entry.is_file()) == ["cordis.patch.yml"]


def test_a_file_that_cannot_be_written_exactly_stays_and_a_row_to_paste_is_given(profile, path, tmp_path):
    odd = FILE + "...\n- trailing: x\n"
    path.write_text(odd)
    with pytest.raises(PatchError):
        patch_file.write_out(profile, "compaction-basic")
    path.write_text(FILE.replace("\n    retain", "\u2028\n    retain"))
    before = path.read_bytes()
    with pytest.raises(CannotRoundTrip) as caught:
        patch_file.write_out(profile, "compaction-basic")
    assert "compaction-basic" in caught.value.paste
    assert path.read_bytes() == before
    assert sorted(entry.name for entry in tmp_path.iterdir() if entry.is_file()) == ["cordis.patch.yml"]


@pytest.mark.parametrize(
    ("raw", "code"), [(b"- id: \xff\n", "not-utf8"), (b"x" * 600_000, "too-large"), (b"x" * 200_000, "too-large")]
)
def test_what_is_no_patch_file_is_refused(profile, path, alice, raw, code):
    path.write_bytes(raw)
    with pytest.raises(PatchError) as caught:
        patch_file.read_into(profile, path, 0, by=alice)
    assert caught.value.code == code


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_pipe_and_a_folder_are_refused_at_once_by_name(path, make):
    make(path)
    with pytest.raises(PatchError, match=r"/cordis\.patch\.yml is no file"):
        patch_file.read(path)


def test_a_writer_killed_before_it_could_remember_does_not_stop_the_next_one(profile, path, alice):
    path.write_text(FILE)
    patch_file.read_into(profile, path, 0, by=alice)
    mutate(profile, (Op("set", "thresholdRatio", 0.6),), 1, by=alice)
    path.write_text(FILE.replace("0.7", "0.6"))  # what a killed one had put there
    assert not patch_file.write_out(fresh(profile), "compaction-basic").changed
    mutate(profile, (Op("set", "thresholdRatio", 0.5),), 2, by=alice)
    assert patch_file.write_out(fresh(profile), "compaction-basic").changed


def test_an_import_goes_by_the_revision_and_by_the_harness_rules(profile, path, alice):
    path.write_text("- id: compaction-basic\n  config: { thresholdRatio: 2 }\n")
    with pytest.raises(InvalidSettings):
        patch_file.read_into(profile, path, 0, by=alice)
    path.write_text(FILE)
    with pytest.raises(Conflict):
        patch_file.read_into(profile, path, 3, by=alice)
    path.write_text("- id: other\n  config: {}\n")
    with pytest.raises(patch_file.NoSettings):
        patch_file.read_into(profile, path, 0, by=alice)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        patch_file.read_into(profile, path, 0, by=alice)
    assert (fresh(profile).revision, fresh(profile).file_digest) == (0, "")
