"""The product on PostgreSQL, through its real processes: what comes out is what SQLite gives, byte for byte."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests import hostile
from tests.builders import frame, header, session_frames, write
from tests.processes import ROOT, environment, manage, started, until

pytestmark = pytest.mark.slow
DATA = Path(__file__).parent / "data"
# of the human, of the assistant, in both languages, across words, and one that is nowhere
WORDS = ["config", "port", "端口", "不要", "配置文件", "item-001", "stored question", "unfindable-word"]


@pytest.fixture(scope="module")
def migrated(postgres, tmp_path_factory) -> str:
    """The name of a database with the schema, to be copied: migrating takes longer than most tests."""
    postgres.create("migrated")
    run = manage(
        ["migrate", "-v0"], environment(tmp_path_factory.mktemp("migrate"), DATABASE_URL=postgres.url("migrated"))
    )
    assert run.returncode == 0, run.stderr
    return "migrated"


@pytest.fixture
def on_postgres(postgres, migrated, tmp_path) -> dict[str, str]:
    """The environment of an empty product on PostgreSQL."""
    name = f"of_{tmp_path.name}".replace("-", "_")
    return environment(tmp_path / "data", DATABASE_URL=postgres.create(name, like=migrated), LOG_LEVEL="ERROR")


@pytest.fixture
def on_sqlite(tmp_path) -> dict[str, str]:
    env = environment(tmp_path / "sqlite", LOG_LEVEL="ERROR")
    assert manage(["migrate", "-v0"], env).returncode == 0
    return env


def ingest(env: dict[str, str], *paths: Path) -> list[dict]:
    """The objects that `ingest --json` prints; nothing may go to stderr."""
    run = manage(["ingest", "--json", *map(str, paths)], env, patience=300)  # there are shared machines
    assert (run.returncode, run.stderr[-2000:]) == (0, "")
    return [json.loads(line) for line in run.stdout.splitlines()]


def picture(env: dict[str, str], *words: str) -> dict:
    run = subprocess.run(
        [sys.executable, "-m", "tests.picture", *words], cwd=ROOT, env=env, capture_output=True, text=True, timeout=90
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def assert_same(ours: dict, theirs: dict) -> None:
    """As `==`, but a failure names the first row that differs instead of printing megabytes."""
    assert ours.keys() == theirs.keys()
    for name in ours:
        if isinstance(ours[name], list):
            for mine, other in zip(ours[name], theirs[name], strict=True):
                assert mine == other, name
        assert ours[name] == theirs[name], name


def test_recorded_and_demo_logs_give_the_same_rows_records_and_search_hits(on_postgres, on_sqlite):
    paths = [DATA / "corpus", ROOT / "demo"]
    assert ingest(on_postgres, *paths) == ingest(on_sqlite, *paths)
    ours, theirs = picture(on_postgres, *WORDS), picture(on_sqlite, *WORDS)
    assert_same(ours, theirs)
    assert len(ours["sessions"]) > 30
    assert len(ours["audits"]) > 20
    assert {word: bool(hits) for word, hits in ours["found"].items()} == {word: word != WORDS[-1] for word in WORDS}
    again = ingest(on_postgres, *paths)
    assert again[-1]["summary"]["changed"] == 0
    assert manage(["rebuild"], on_postgres).returncode == 0
    assert_same(picture(on_postgres, *WORDS), theirs)


def test_records_printed_are_the_same_bytes(on_postgres, on_sqlite):
    printed = []
    for env in (on_postgres, on_sqlite):
        ingest(env, DATA / "corpus" / "pressure-compaction-zh", DATA / "corpus" / "repeated-compaction")
        run = manage(["audit", "--json"], env)
        assert run.returncode == 0, run.stderr
        printed.append(run.stdout)
    assert printed[0] == printed[1]
    assert len(printed[0].splitlines()) >= 3


def test_poison_in_every_field_is_stored_without_an_error_and_alike(on_postgres, on_sqlite, tmp_path):
    logs = hostile.write_all(tmp_path / "hostile")
    ours, theirs = (ingest(env, tmp_path / "hostile") for env in (on_postgres, on_sqlite))
    for report in [*ours[:-1], *theirs[:-1]]:
        assert "error" not in [entry["code"] for entry in report["damage"]], report
    assert ours == theirs
    assert ours[-1]["summary"]["status"]["failed"] == 0
    assert len(ours) == logs + 1
    assert_same(picture(on_postgres, "megabytes"), picture(on_sqlite, "megabytes"))


def test_names_that_are_no_text_and_long_ones_are_brought_in_also_by_a_worker(on_postgres, tmp_path):
    """Bytes that are not UTF-8, and paths longer than a key or a place may be."""
    odd = Path(os.fsdecode(bytes(tmp_path / "home") + b"/caf\xe9"))
    long = (tmp_path / "home").joinpath(*["folder-" + "x" * 200] * 6)
    for n, folder in enumerate((odd, long)):
        write(folder, session_frames(rounds=1), f"session-00000000-0000-4000-8000-{n:012d}")
    log = tmp_path / "log"
    with started(["ingest", "--watch", str(odd), str(long)], on_postgres | {"WATCH_POLL_SECONDS": "1"}, log) as watch:
        # (watchfiles takes no such name either: the folder is polled)
        until(lambda: len(picture(on_postgres)["audits"]) == 2, "both are audited", watch, log)
        more = write(odd, session_frames(rounds=1), "session-00000000-0000-4000-8000-00000000000c")
        until(lambda: len(picture(on_postgres)["audits"]) == 3, "the new one too", watch, log)
    assert "Traceback" not in log.read_text()
    seen = picture(on_postgres)
    assert len({row["location"] for row in seen["places"]}) == 3
    assert str(more) not in {row["location"] for row in seen["places"]}
    assert ingest(on_postgres, tmp_path / "home")[-1]["summary"]["changed"] == 0


def test_two_importers_at_once_make_one_of_everything(on_postgres, tmp_path):
    frames = session_frames(rounds=12)
    for n in range(6):
        name = f"session-00000000-0000-4000-8000-{n:012d}"
        write(tmp_path / "home", [frame(header(name)), *frames[1:]], name)
    with ExitStack() as stack:
        both = [
            stack.enter_context(started(["ingest", str(tmp_path / "home")], on_postgres, tmp_path / f"log{n}"))
            for n in range(2)
        ]
        assert [process.wait(90) for process in both] == [0, 0]
    for n in range(2):
        assert "6 logs (6 ok" in (tmp_path / f"log{n}").read_text()
    seen = picture(on_postgres)
    assert [len(seen[name]) for name in ("sessions", "logs", "places", "compactions", "audits")] == [6, 6, 6, 72, 72]
    assert len({(row["log__places__location"], row["position"]) for row in seen["messages"]}) == len(seen["messages"])


def test_importers_of_many_copies_of_one_log_never_delete_each_others(on_postgres, tmp_path):
    """Whoever comes second may have found the log that the first one made: it is not his to delete."""
    for n in range(12):
        write(tmp_path / f"copy-{n}", session_frames(rounds=2))
    with ExitStack() as stack:
        log = tmp_path / "log"
        both = [stack.enter_context(started(["ingest", str(tmp_path)], on_postgres, log)) for _ in range(2)]
        assert [process.wait(90) for process in both] == [0, 0]
    assert log.read_text().count("12 logs (12 ok;") == 2
    seen = picture(on_postgres)
    assert len(seen["sessions"]) == 1
    assert [row["status"] for row in seen["places"]] == ["ok"] * 12
    assert {row["location"] for row in seen["places"]} == {row["places__location"] for row in seen["logs"]}


def ask(env: dict[str, str], *arguments: str) -> str:
    run = subprocess.run(
        [sys.executable, "-m", "tests.ask", *arguments], cwd=ROOT, env=env, capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_two_workers_do_each_task_once_and_a_killed_ones_task_again(on_postgres, redis_url, tmp_path):
    """Each message is sent three times, so both workers reach for the rows; the compare-and-set decides."""
    env = on_postgres | {"REDIS_URL": redis_url, "LOG_LEVEL": "INFO"}
    log, mark, once = tmp_path / "log", tmp_path / "mark", tmp_path / "once"
    with started(["worker"], env, log), started(["worker"], env, log) as second:
        until(lambda: log.read_text().count("is ready") == 2, "both get ready", second, log)
        for n in range(4):
            ask(env, "enqueue", "mark", f"k{n}", str(mark), "3")
        ask(env, "enqueue", "slow-once", "slow", str(once), "3")
        until(once.exists, "the slow one has begun", second, log)
        holder = json.loads(ask(env, "show"))
        assert holder["workers"] == 2
        until(lambda: mark.exists() and len(mark.read_text().splitlines()) >= 4, "the others are done", second, log)
    states = json.loads(ask(env, "show"))["tasks"]
    assert [row["state"] for row in states] == ["done"] * 4 + ["queued"]
    assert mark.read_text() == "ran\n" * 4
    assert {row["attempts"] for row in states[:4]} == {1}
    with started(["worker"], env, log) as third:
        until(
            lambda: json.loads(ask(env, "show"))["tasks"][-1]["state"] == "done", "it is done by the next", third, log
        )
        third.send_signal(signal.SIGTERM)
        assert third.wait(30) == 0
    assert "Traceback" not in log.read_text()
