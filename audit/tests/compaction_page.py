"""A compaction to look at, and how its page is read in tests."""

from __future__ import annotations

import re

from audit.core.marks import fact_key
from audit.selectors_facts import WINDOW
from dshweb.ui.tests.rows import make_audit, make_compaction, make_log, make_messages, make_session

MANY = [("tool/result", "", False, f"row {n} of data/part-{n:04}.csv holds {n} MB") for n in range(3 * WINDOW)]
FORCE = fact_key("user_rule", "never force-push to main")


def compaction(people, turn=None, *, audited=True, **fields):
    session = make_session(people.team, f"s{fields.get('position', '')}", people.alice)
    log = make_log(session)
    make_messages(log, turn)
    row = make_compaction(log, **fields)
    if audited:
        make_audit(row)
    return row


def part(html: str, name: str) -> str:
    start = html.index(f'id="{name}"')
    return (
        html[start : html.index("</section>\n", start)]
        if name != "originals"
        else html[start : html.index('id="summary"')]
    )


def marks_of(html: str) -> list[tuple[str, str]]:
    """(state, text) of every mark of a fact."""
    found = re.findall(r'<a class="fact f-(\w+)"[^>]*>(.*?)</a>', html, re.DOTALL)
    return [(state, re.sub(r'<span class="f-l">.*?</span>|<[^>]+>', "", inner)) for state, inner in found]
