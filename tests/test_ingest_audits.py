"""A record is of bytes: however often a log was read while it grew, in the end there are the records of one reading."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit.models import Audit
from dshweb.sessionlog.models import Compaction, LogFile, SourceFile
from dshweb.sessionlog.services import steps
from dshweb.sessionlog.services.ingest import Import, ingest_file
from tests.builders import BORN, assistant, compaction, frame, header, human

SESSION = "session-00000000-0000-4000-8000-00000000000a"


def moved(seq: int, cwd: str) -> dict:
    return {"type": "working-directory/change", "seq": seq, "time": BORN + seq * 1000, "data": {"cwd": cwd}}


def rows() -> list[dict]:
    """Two compactions; the same relative path means another file after the working directory changed."""
    return [
        header(cwd="/a"), human(0, "look at src/app.yaml"), assistant(1, "did it in src/app.yaml, took 13 ms"),
        *compaction(2, [0, 1], "Changed /a/src/app.yaml and /b/src/app.yaml, took 14 ms", "c1"),
        moved(6, "/b"), human(7, "and src/app.yaml again"),
        *compaction(8, [4, 7], "Changed /a/src/app.yaml and /b/src/app.yaml", "c2"), moved(12, "/c"), human(13, "end"),
    ]  # fmt: skip


def bring_in(people, path: Path) -> None:
    place = SourceFile.unscoped.select_related("log").filter(location=str(path)).first()
    report = ingest_file(path, run=Import.by(people.team, people.bob, inline=True), place=place)
    assert report.status != "failed" or path.stat().st_size < 200, report.damage


def records(path: Path) -> list[dict]:
    log = LogFile.unscoped.get(places__location=str(path))
    audits = Audit.unscoped.filter(compaction__log=log).order_by("compaction__position")
    return [{**audit.record, "sessionId": ""} for audit in audits]


def log_of(folder: Path, n: int, *, plain: bool) -> tuple[Path, list[bytes]]:
    name = f"session-00000000-0000-4000-8000-{n:012d}"
    path = folder / name / ("session.v4.jsonl" if plain else "session.v4.jsonl.zstd")
    path.parent.mkdir(parents=True)
    mine = [{**row, "id": name} if row["type"] == "session" else row for row in rows()]
    return path, [json.dumps(row).encode() + b"\n" if plain else frame(row) for row in mine]


@pytest.mark.parametrize("plain", [False, True])
def test_records_do_not_depend_on_when_the_log_was_read(people, data_dir, tmp_path, plain):
    path, pieces = log_of(tmp_path, 0, plain=plain)
    path.write_bytes(b"".join(pieces))
    bring_in(people, path)
    wanted = records(path)
    assert [record["checkpointSeq"] for record in wanted] == [4, 10]
    cuts = [[n] for n in range(2, len(pieces))] + [list(range(2, len(pieces)))]
    for n, ends in enumerate(cuts, start=1):
        path, pieces = log_of(tmp_path, n, plain=plain)
        for end in [*ends, len(pieces)]:
            path.write_bytes(b"".join(pieces[:end]))
            bring_in(people, path)
        assert records(path) == wanted, ends


@pytest.mark.parametrize("plain", [False, True])
def test_records_do_not_depend_on_torn_reads_between(people, data_dir, tmp_path, plain):
    path, pieces = log_of(tmp_path, 0, plain=plain)
    path.write_bytes(b"".join(pieces))
    bring_in(people, path)
    wanted = records(path)
    for n, torn in enumerate((1, 7, 30), start=1):
        path, pieces = log_of(tmp_path, n, plain=plain)
        for end in range(2, len(pieces) + 1):
            path.write_bytes(b"".join(pieces[:end])[:-torn])
            bring_in(people, path)
        path.write_bytes(b"".join(pieces))
        bring_in(people, path)
        assert records(path) == wanted, torn


def test_steps_of_any_size_give_the_same_records(people, data_dir, tmp_path, monkeypatch):
    path, pieces = log_of(tmp_path, 0, plain=False)
    path.write_bytes(b"".join(pieces))
    bring_in(people, path)
    monkeypatch.setattr(steps, "STEP_BYTES", 1)
    again, pieces = log_of(tmp_path, 1, plain=False)
    again.write_bytes(b"".join(pieces))
    bring_in(people, again)
    assert records(again) == records(path)


def test_a_relative_path_is_of_the_working_directory_at_the_summary(people, data_dir, tmp_path):
    path, pieces = log_of(tmp_path, 0, plain=False)
    path.write_bytes(b"".join(pieces))
    bring_in(people, path)
    assert [row.context["cwd"] for row in Compaction.unscoped.order_by("position")] == ["/a", "/b"]
    texts = [[row["text"] for row in record["fidelity"]["unverified"]] for record in records(path)]
    assert "/b/src/app.yaml" in texts[0]
    assert "/a/src/app.yaml" not in texts[0]


def test_a_summary_alone_is_audited_and_its_record_replaced_when_the_checkpoint_comes(people, data_dir, tmp_path):
    path, pieces = log_of(tmp_path, 0, plain=False)
    summary = next(n for n, row in enumerate(rows()) if row["type"] == "compaction/summary") + 1
    path.write_bytes(b"".join(pieces[:summary]))
    bring_in(people, path)
    assert [record["checkpointSeq"] for record in records(path)] == [None]
    path.write_bytes(b"".join(pieces[: summary + 1]))
    bring_in(people, path)
    assert [record["checkpointSeq"] for record in records(path)] == [4]
    kept = Audit.unscoped.get().pk
    path.write_bytes(b"".join(pieces[: summary + 3]))
    bring_in(people, path)
    assert Audit.unscoped.get().pk == kept, "an end changes nothing a record says"


def test_an_attempt_that_fails_after_its_checkpoint_loses_its_number(people, data_dir, tmp_path):
    path, pieces = log_of(tmp_path, 0, plain=False)
    end = next(n for n, row in enumerate(rows()) if row["type"] == "compaction/end")
    path.write_bytes(b"".join(pieces[:end]))
    bring_in(people, path)
    assert Compaction.unscoped.get().round == 1
    failed = rows()[end]
    failed["data"]["error"] = "boom"
    path.write_bytes(b"".join([*pieces[:end], frame(failed), *pieces[end + 1 :]]))
    bring_in(people, path)
    found = Compaction.unscoped.order_by("position").values_list("outcome", "round")
    assert list(found) == [("failed", None), ("completed", 1)]
