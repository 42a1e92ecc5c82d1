"""Stored facts: their places fit the stored texts of real logs of all formats; they come and go with what they are made of."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from audit.core.record import dumps
from audit.models import Audit, Fact, MarkedText
from audit.services.facts import LEAF
from audit.services.mask_again import mask_records
from audit.services.run import audit_log
from dshweb.sessionlog.models import Compaction, LogFile, MaskPattern, Message
from dshweb.sessionlog.services.ingest import Import, ingest_path
from dshweb.sessionlog.services.report import Totals
from tests.builders import assistant, compaction, frame, header, human, write

pytestmark = pytest.mark.django_db

CORPUS = Path(__file__).parents[2] / "tests" / "data" / "corpus"
SCENARIOS = sorted(path.parent.name for path in CORPUS.glob("*/facts.json"))


def bring_in(people, path: Path) -> list[LogFile]:
    ingest_path(path, run=Import.by(people.team, people.bob, inline=True), totals=Totals())
    logs = list(LogFile.objects.for_team(people.team).order_by("id"))
    for log in logs:
        audit_log(log)
    return logs


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_place_is_a_place_in_the_stored_text(people, data_dir, scenario):
    bring_in(people, CORPUS / scenario)
    for audit in Audit.unscoped.select_related("compaction__log"):
        assert audit.marked
        row = audit.compaction
        assert row.log.masking == audit.masking
        texts: dict[int, str] = {}
        for message in Message.unscoped.filter(log=row.log).order_by("position"):
            texts.setdefault(message.seq, message.text)
            lengths = [length for _source, length in message.parts]
            assert sum(lengths) + 2 * max(0, len(lengths) - 1) == message.chars, "parts add up to the text"
        for fact in audit.facts.all():
            spellings = {texts[seq][start:end] for seq, start, end in fact.leaves}
            spellings |= {row.summary[block][start:end] for block, start, end in fact.summary}
            assert spellings
            assert all(one.strip() for one in spellings), fact.text
            if fact.cls in ("uuid", "abs_path", "file_path"):
                last = re.split(r"[/\\]", fact.canon)[-1].lower()
                assert all(last in one.lower() for one in spellings), (fact.text, spellings)
        marks = sum(len(one.marks) for one in MarkedText.unscoped.filter(audit=audit, side=LEAF))
        assert marks == sum(len(fact.leaves) for fact in audit.facts.all())
        seqs = {seq for first, last in audit.record["ledger"]["leafSeqs"] for seq in range(first, last + 1)}
        assert {one.place for one in MarkedText.unscoped.filter(audit=audit, side=LEAF)} <= seqs


@pytest.fixture
def log(people, data_dir, tmp_path: Path) -> LogFile:
    rows = [human(0, "Always keep /srv/clinic/erika/notes.txt and /srv/app/b.yaml."), assistant(1, "It took 12 s.")]
    summary = "Keep /srv/app/b.yaml. Batch 0b7d1f5e-1111-4222-8333-444455556666 took 12 s."
    frames = [frame(header()), *(frame(row) for row in rows), *(frame(row) for row in compaction(2, [0, 1], summary))]
    return bring_in(people, write(tmp_path, frames))[0]


def test_a_record_from_before_facts_were_kept_gets_them_and_stays_as_it_is(log):
    audit = Audit.unscoped.get()
    before, facts = dumps(audit.record), set(audit.facts.values_list("key", "fate", "claim"))
    assert facts
    Fact.unscoped.all().delete()
    MarkedText.unscoped.all().delete()
    Audit.unscoped.update(marked=False)
    assert [one.pk for one in audit_log(log)] == [audit.pk]
    audit.refresh_from_db()
    assert audit.marked
    assert dumps(audit.record) == before
    assert set(audit.facts.values_list("key", "fate", "claim")) == facts
    assert audit_log(log) == [], "and once is enough"


def test_facts_go_when_their_record_is_masked_by_a_later_list(people, log):
    assert "erika" in " ".join(Fact.unscoped.values_list("text", flat=True))
    MaskPattern.unscoped.create(team=people.team, name="person", expression="erika")
    mask_records(people.team.pk)
    assert not Fact.unscoped.exists()
    assert not MarkedText.unscoped.exists()
    assert not Audit.unscoped.get().marked


def test_facts_go_with_their_compaction(log):
    Compaction.unscoped.all().delete()
    assert not Fact.unscoped.exists()
    assert not MarkedText.unscoped.exists()


def test_what_is_not_stored_of_a_text_is_read_from_the_log(client, people, data_dir, tmp_path, settings):
    settings.MAX_STORED_TEXT = 4000
    lines = [f"{n}: a line that says nothing" for n in range(900)]
    lines[850] = "850: never touch /srv/far/away.txt"
    long = "\n".join(lines)
    frames = [
        frame(header()),
        frame(human(0, long)),
        *(frame(row) for row in compaction(1, [0], "Nothing of note was said. " * 9)),
    ]
    bring_in(people, write(tmp_path, frames))
    row, message = Compaction.unscoped.get(), Message.unscoped.get(seq=0)
    assert len(message.text) == 4000
    client.force_login(people.bob)
    html = client.get(f"/compactions/{row.pk}/?at=0").content.decode()
    assert f"from=4000&amp;to={len(long)}" in html, "a gap leads to what is not stored"
    address, got = f"/compactions/{row.pk}/originals/0?from=4000&to={len(long)}", ""
    for _ in range(9):
        piece = client.get(address, headers={"x-fragment": "1"}).content.decode()
        more = re.search(r'<a class="hole" href="([^"]+)"', piece)
        got += piece[: more.start()] if more else piece
        if not more:
            break
        address = more[1].replace("&amp;", "&")
    assert 'class="fact f-lost"' in got, "marked there too"
    plain = re.sub(r"<svg.*?</svg>|<span class=\"f-l\">.*?</span>|<[^>]+>", "", got)
    assert plain == long[4000:]
