"""The cache of a server without Redis counts as the limits of logins need it; tests otherwise use one in memory."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import dshweb.settings
from dshweb.access.services import attempts, once
from dshweb.file_cache import FileCache


@pytest.fixture
def files(settings, tmp_path):
    """As `serve` has it."""
    backend = "dshweb.file_cache.FileCache"
    assert dshweb.settings.CACHES["default"]["BACKEND"] == backend
    settings.CACHES = {"default": {"BACKEND": backend, "LOCATION": tmp_path}}
    return tmp_path


def test_a_try_counts_for_a_quarter_of_an_hour_however_many_follow(files):
    for _ in range(3):
        attempts.take("bob", "192.0.2.1")
    attempts.forget("alice", "192.0.2.1")
    ends = [FileCache(str(files), {})._end(str(path)) for path in files.glob("*.djcache")]
    assert len(ends) == 2
    assert all(attempts.WINDOW_SECONDS - 60 < end - time.time() <= attempts.WINDOW_SECONDS for end in ends)


def test_of_many_tries_at_once_ten_are_let_through(files):
    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(lambda _: attempts.take("bob", "192.0.2.1"), range(60)))
    assert sum(taken) == attempts.PER_NAME


def test_of_many_who_send_a_form_at_once_one_is_the_first(files):
    word = once.word()
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(lambda _: once.first(word, 1), range(40))) == 1


def test_what_is_not_there_or_over_is_not_counted(tmp_path):
    cache = FileCache(str(tmp_path), {})
    with pytest.raises(ValueError, match="not found"):
        cache.incr("a")
    cache.set("a", 1, timeout=0)
    with pytest.raises(ValueError, match="not found"):
        cache.incr("a")
    cache.set("a", 1, timeout=None)
    assert (cache.incr("a"), cache.decr("a", 3), cache.get("a")) == (2, -1, -1)
