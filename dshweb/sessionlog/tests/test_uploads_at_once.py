"""Workers that import files of one person, session and name at the same time: each file's bytes are kept."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connections

from dshweb.sessionlog.models import LogFile
from dshweb.sessionlog.services import inbox, store, uploads
from tests.builders import frame, header, human

pytestmark = pytest.mark.django_db(transaction=True)
SESSION = "session-00000000-0000-4000-8000-00000000000e"
WORKERS = 4


def log(n: int) -> bytes:
    rows = [header(id=SESSION), human(0, f"as copy {n} has it"), *[human(1 + k, "and more") for k in range(n)]]
    return b"".join(frame(row) for row in rows)


def test_files_for_one_place_at_once_are_all_kept(people, data_dir):
    logs, start = [log(n) for n in range(WORKERS)], Barrier(WORKERS)
    payloads = []
    for data in logs:
        incoming = inbox.Incoming()
        incoming.write(data)
        asked = uploads.accept(incoming, "session.v4.jsonl.zstd", team=people.team, user=people.bob)
        payloads.append(asked.task.payload)

    def work(payload: dict) -> str:
        try:
            start.wait(timeout=30)
            return uploads.take_in(people.team, payload)["status"]
        finally:
            connections.close_all()

    with ThreadPoolExecutor(WORKERS) as pool:
        assert set(pool.map(work, payloads)) == {"ok"}
    kept = [store.local_path(row.stored).read_bytes() for row in LogFile.unscoped.all()]
    assert sorted(kept) == sorted(logs)
