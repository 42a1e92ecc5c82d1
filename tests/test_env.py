"""Settings from the environment: typed, from files too, and wrong ones are one clear line."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from dshweb.env import BadSetting, Env, database, secret_key
from tests.processes import ROOT, environment


def test_values_are_typed_and_declared():
    env = Env({"A": "7", "B": "yes", "C": "x, y,", "E": "zh-Hans"})
    assert (env.number("A", 1, "m"), env.flag("B", default=False, meaning="m"), env.words("C", "", "m")) == (
        7,
        True,
        ["x", "y"],
    )
    assert env.text("D", "default", "m") == "default"
    assert env.choice("E", "en", ("en", "zh-hans"), "m") == "zh-hans"
    assert env.zone("F", "UTC", "m") == "UTC"
    assert [row.name for row in env.declared] == ["A", "B", "C", "D", "E", "F"]


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("seven", lambda env: env.number("A", 1, "m")),
        ("0", lambda env: env.number("A", 1, "m", least=1)),
        ("maybe", lambda env: env.flag("A", default=False, meaning="m")),
        ("loud", lambda env: env.choice("A", "INFO", ("INFO", "ERROR"), "m")),
        ("Mars/Olympus", lambda env: env.zone("A", "UTC", "m")),
        ("../../etc/passwd", lambda env: env.zone("A", "UTC", "m")),
        ("", lambda env: env.zone("A", "UTC", "m")),
    ],
)
def test_a_wrong_value_is_refused_by_name(value, read):
    with pytest.raises(BadSetting, match="A="):
        read(Env({"A": value}))


def test_a_secret_may_come_from_a_file_but_not_from_both(tmp_path):
    path = tmp_path / "secret"
    path.write_text("from the file\n")
    assert Env({"A_FILE": str(path)}).text("A", "", "m") == "from the file"
    with pytest.raises(BadSetting, match="A and A_FILE"):
        Env({"A": "x", "A_FILE": str(path)}).text("A", "", "m")
    with pytest.raises(BadSetting, match="A_FILE: cannot read"):
        Env({"A_FILE": str(tmp_path / "none")}).text("A", "", "m")


def test_database_addresses():
    assert database("", Path("/data/db"))["NAME"] == "/data/db"
    assert database("sqlite:////abs/db", Path("x"))["NAME"] == "/abs/db"
    assert database("", Path("/data/50% #1?/db"))["NAME"] == "/data/50% #1?/db", "a folder is no address"
    given = database("postgresql://us%40er:p%3Aw@host:5433/name?sslmode=require", Path("x"))
    assert (given["USER"], given["PASSWORD"], given["HOST"], given["PORT"]) == ("us@er", "p:w", "host", "5433")
    assert given["OPTIONS"] == {"sslmode": "require"}
    with pytest.raises(BadSetting, match="mysql"):
        database("mysql://x/y", Path("x"))


def test_the_secret_key_is_made_once_and_only_for_its_owner(tmp_path):
    folder = tmp_path / "data"
    key = secret_key("", folder)
    assert len(key) >= 50
    assert secret_key("", folder) == key
    assert stat.S_IMODE((folder / "secret_key").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    with pytest.raises(BadSetting, match="at least 32"):
        secret_key("short", folder)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("WEB_WORKERS", "many", "not a whole number"),
        ("LOG_LEVEL", "LOUD", "one of DEBUG, INFO, WARNING, ERROR"),
        ("LANGUAGE_CODE", "tlh", "one of en, zh-hans"),
        ("TIME_ZONE", "Mars/Olympus", "not a known time zone"),
    ],
)
def test_a_wrong_setting_ends_a_command_with_one_line(tmp_path, name, value, said):
    run = subprocess.run(
        [sys.executable, "manage.py", "migrate"],
        cwd=ROOT,
        env=environment(tmp_path, **{name: value}),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 1
    assert run.stderr.startswith(f"manage.py: {name}={value!r}: {said}")
    assert run.stderr.count("\n") == 1
