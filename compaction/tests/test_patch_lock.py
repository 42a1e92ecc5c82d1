"""DSH's own lock of a profile folder: taken, waited for, taken over, and what killed holders left."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from compaction.services import patch_lock
from compaction.services.patch_lock import Locked, held


def lock(tmp_path: Path) -> Path:
    return tmp_path / "package.json.lock"


def test_the_lock_names_this_process_and_goes_again(tmp_path):
    with held(tmp_path):
        assert lock(tmp_path).read_text() == f"{os.getpid()}\n"
    assert list(tmp_path.iterdir()) == []


def test_a_lock_of_a_living_process_is_waited_for_and_then_left_alone(tmp_path, monkeypatch):
    lock(tmp_path).write_text(f"{os.getppid()}\n")
    monkeypatch.setattr(patch_lock, "_STEP", 0.001)
    with pytest.raises(Locked) as caught, held(tmp_path, wait=0.01):
        pass
    assert caught.value.holder == os.getppid()
    assert lock(tmp_path).read_text() == f"{os.getppid()}\n"


def test_a_lock_of_a_dead_process_is_taken_over(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    lock(tmp_path).write_text(f"{gone.pid}\n")
    with held(tmp_path, wait=0):
        assert lock(tmp_path).read_text() == f"{os.getpid()}\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", ["", "x\n", "-1\n", "0\n", "9" * 30])
def test_a_lock_that_names_nobody_is_not_taken_over(tmp_path, content):
    lock(tmp_path).write_text(content)
    with pytest.raises(Locked) as caught, held(tmp_path, wait=0):
        pass
    assert caught.value.holder is None
    assert lock(tmp_path).read_text() == content


@pytest.mark.parametrize("_again", range(5))
def test_only_one_of_many_is_inside_at_a_time(tmp_path, _again):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    lock(tmp_path).write_text(f"{gone.pid}\n")  # all of them find a dead one's first
    inside, most, errors = [], [], []

    def work() -> None:
        try:
            for _ in range(10):
                with held(tmp_path, wait=30):
                    inside.append(1)
                    most.append(len(inside))
                    inside.pop()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (errors, len(most), max(most)) == ([], 40, 1)
    assert list(tmp_path.iterdir()) == []


def test_a_lock_with_our_own_number_is_of_a_killed_one_before(tmp_path):
    lock(tmp_path).write_text(f"{os.getpid()}\n")
    with held(tmp_path, wait=0):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_lock_that_is_no_file_does_not_hang_us(tmp_path, make):
    make(lock(tmp_path))
    open_files = len(os.listdir("/dev/fd"))
    with pytest.raises(Locked), held(tmp_path, wait=0.1):
        pass
    assert len(os.listdir("/dev/fd")) == open_files


def test_what_killed_ones_left_is_swept_up_and_nothing_else(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    left = [f".package.json.lock.{gone.pid}.0123abcd", f".cordis.patch.yml.{gone.pid}.0123abcd"]
    stay = [f".package.json.lock.{os.getppid()}.0123abcd", f".cordis.patch.yml.{gone.pid}.bak", "package.json"]
    for name in left + stay:
        (tmp_path / name).write_text("x")
    with held(tmp_path):
        pass
    assert sorted(entry.name for entry in tmp_path.iterdir()) == sorted(stay)


def test_a_full_disk_leaves_nothing_behind(tmp_path, monkeypatch):
    def full(self: Path, text: str) -> int:
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space"), held(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []
