"""`ENGINE` moves with the rules: the demo's records, digested, are those noted for this engine.

After a change of the rules: `python -m audit.tests.core.test_engine` notes the digest. Once an engine has been released
raise `ENGINE` first, so that records of two sets of rules never pass for comparable ones.
"""

from __future__ import annotations

import hashlib
import json

from audit.core.policy import Policy
from audit.core.record import audit, dumps
from audit.core.schema import ENGINE
from audit.tests.core.logs import DATA, ROOT, cases_of_log

NOTED = DATA / "audit" / "engines.json"


def digest_of_the_demo() -> str:
    found = hashlib.sha256()
    logs = sorted((ROOT / "demo" / "sessions").rglob("session*.jsonl*"))
    records = [audit(case, Policy()) for log in logs for case in cases_of_log(log)]
    assert len(records) >= 5
    for record in records:
        found.update(dumps(record) + b"\n")
    return found.hexdigest()[:16]


def noted() -> dict[str, str]:
    return json.loads(NOTED.read_text())


def test_other_records_for_the_demo_mean_another_engine():
    digest = digest_of_the_demo()
    assert noted().get(ENGINE) == digest, (
        f"the rules of engine {ENGINE} give other records than noted. Raise ENGINE in audit/core/schema.py if it was released,"
        " then run: python -m audit.tests.core.test_engine"
    )
    assert list(noted().values()).count(digest) == 1, "two engines that give the same records are one"


if __name__ == "__main__":
    NOTED.write_text(json.dumps({**noted(), ENGINE: digest_of_the_demo()}, indent=1) + "\n")
