"""P9 and P11: the audit of a whole log against decoding and parsing it, and its growth with the number of facts."""

from __future__ import annotations

import json
import os
import random
from dataclasses import replace
from typing import Any

from audit.core.case import AuditCase
from audit.core.policy import Policy
from audit.core.record import audit
from bench import peers
from bench.corpora import corpus
from bench.measure import Pairs, Row, child, interleaved, row, timed
from bench.product import ROOT, data_folder, run
from bench.words import Text
from dshweb.sessionlog.core.leaves import Block, Leaf, Ledger, Source

FACTS = 2_000
LEAF_FACTS = 6
TURNS: tuple[tuple[str, str, Source], ...] = (
    ("user/message", "user", "human"),
    ("assistant/message", "model", "assistant"),
    ("assistant/message", "model", "assistant"),
    ("tool/result", "tool", "tool_result"),
)


def case(facts: int) -> AuditCase:
    """A compaction whose leaves hold `facts` facts; the summary names a fifth of them, some altered, some from nowhere."""
    text = Text(random.Random(f"case {facts}"))
    leaves = []
    for seq in range(facts // LEAF_FACTS):
        kind, author, source = TURNS[seq % len(TURNS)]
        lines = [f"- {text.phrase()}: {text.fact()}" for _ in range(LEAF_FACTS)]
        leaves.append(Leaf(seq, kind, author, 1_796_000_000_000 + seq, 1, (Block(seq, 0, source, "\n".join(lines)),)))
    seen = text.facts
    named = [fact if k % 8 else fact.replace("1", "7", 1) for k, fact in enumerate(seen[::5])]
    named += [text.fact() for _ in range(facts // 100)]
    summary = "## Critical Context\n" + "\n".join(f"- {text.phrase()} {fact}" for fact in named)
    ledger = Ledger(tuple(leaf.seq for leaf in leaves), 1)
    empty = AuditCase("session", "compaction", len(leaves) + 1, None, None, None, "/srv/demo-app", (), (), ledger)
    return replace(empty, summary=(summary,), leaves=tuple(leaves))


def p11() -> list[Row]:
    single, double = case(FACTS), case(2 * FACTS)
    policy = Policy()
    errors = audit(double, policy)["errors"]
    assert not errors, json.dumps(errors)
    figures = interleaved(timed(lambda: audit(double, policy), 3), timed(lambda: audit(single, policy), 3))
    what = f"audit grows with facts: {2 * FACTS:,} : {FACTS:,} facts, one compaction"
    return [row("P11", what, Pairs(figures[0], figures[1]), must=2.2, stretch=2.05)]


def p9() -> list[Row]:
    """Whole work on our side: rows by seq from the stored log, masking, ledgers, ten audits, records in the database."""
    log = corpus("L12C")
    seconds: dict[str, Any] = {}
    with data_folder() as data:
        run(data, "import_unaudited", str(log.path))

        def ours() -> float:
            seconds.update(run(data, "audit", str(log.path), timeout=240)[1])
            if seconds["audits"] != log.compactions or seconds["errors"]:
                raise AssertionError(f"{seconds['audits']} of {log.compactions} audits, errors {seconds['errors']}")
            return float(seconds["seconds"])

        def peer() -> float:
            done = child([peers.python(), "-m", "bench.parse_peer", str(log.path)], os.environ, cwd=ROOT)
            return float(json.loads(done.output)["seconds"])

        figures = interleaved(ours, peer)
    what = "audit of a session with 10 compactions (L12C) : decode and orjson of the same log"
    return [row("P9", what, Pairs(figures[0], figures[1]), must=3, stretch=1.5, note="without process starts")]
