"""Signals with their reviews as files: whole, in order, harmless to whatever opens them."""

from __future__ import annotations

import csv
import io
import json

import pytest

from audit.core.record import dumps
from audit.models import Signal
from audit.selectors_review import Filters, every, signal_for
from audit.services.export import COLUMNS, jsonl
from audit.services.review import review
from dshweb.access.callers import caller_for_user
from dshweb.access.models import Visibility
from dshweb.text.table import BOM, cell
from dshweb.ui.tests.rows import (
    HOSTILE,
    make_audited,
)

pytestmark = pytest.mark.django_db


def fill(people, sessions=1, turn=None, **fields):
    for number in range(sessions):
        make_audited(people.team, people.bob, f"s-{number}", turn, **fields)


def body(client, url):
    answer = client.get(url)
    assert answer.status_code == 200
    return b"".join(answer.streaming_content).decode()


def test_jsonl_has_each_signal_once_as_in_the_record_with_its_review(client, people):
    fill(people, 3)
    caller = caller_for_user(people.alice)
    first = Signal.unscoped.order_by("-importance", "-id").first()
    review(caller, signal_for(caller, first.pk), "confirmed", "说过：是\n对的")
    client.force_login(people.vera)
    lines = [json.loads(line) for line in body(client, "/signals/export.jsonl?verdict=all").splitlines()]
    assert [line["id"] for line in lines] == list(
        Signal.unscoped.order_by("-importance", "-id").values_list("pk", flat=True)
    )
    assert lines[0]["review"]["note"] == "说过：是\n对的"
    assert (lines[0]["verdict"], lines[0]["review"]["by"], lines[0]["review"]["token"]) == ("confirmed", "alice", None)
    assert lines[1]["review"] is None
    for line in lines:
        record = Signal.unscoped.get(pk=line["id"]).audit.record
        axis = record["fidelity"]["unverified"] + record["coverage"]["lost"]
        assert dumps(line["signal"]) == dumps(axis[line["rank"]])


def test_exports_follow_the_filters_of_the_page(client, people):
    fill(people, 2)
    client.force_login(people.bob)
    kinds = {
        json.loads(line)["signal"]["kind"] for line in body(client, "/signals/export.jsonl?kind=altered").splitlines()
    }
    assert kinds == {"altered"}
    assert body(client, "/signals/export.jsonl?verdict=confirmed") == ""
    assert body(client, "/signals/export.csv?verdict=confirmed") == BOM + ",".join(COLUMNS) + "\r\n"


def test_pieces_of_an_export_join_without_loss(people):
    fill(people, 4)
    caller = caller_for_user(people.bob)
    for sort in ("importance", "newest"):
        whole = [found.signal.pk for found in every(caller, Filters(sort=sort))]
        pieces = [found.signal.pk for found in every(caller, Filters(sort=sort), size=3)]
        assert whole == pieces
        assert len(set(whole)) == Signal.unscoped.count()


def test_csv_reads_back_and_begins_with_a_byte_order_mark(client, people):
    fill(people)
    caller = caller_for_user(people.alice)
    for row in Signal.unscoped.all():
        review(caller, signal_for(caller, row.pk), "dismissed", '=HYPERLINK("http://x","y")\nzwei, "Zeilen"')
    client.force_login(people.bob)
    text = body(client, "/signals/export.csv?verdict=all")
    assert text.startswith(BOM)
    rows = list(csv.DictReader(io.StringIO(text[1:], newline="")))
    assert len(rows) == Signal.unscoped.count()
    assert {row["note"] for row in rows} == {'\'=HYPERLINK("http://x","y")\nzwei, "Zeilen"'}
    assert {row["reviewedBy"] for row in rows} == {"alice"}
    assert {row["class"] for row in rows} == set(Signal.unscoped.values_list("cls", flat=True))


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "＝", " =", "\n="])
def test_no_cell_begins_like_a_formula(start):
    assert cell(f"{start}1+1").startswith("'")


def test_numbers_stay_numbers_and_unknown_is_empty():
    assert (cell(-3), cell(2.5), cell(None), cell("/srv/a-b")) == (-3, 2.5, "", "/srv/a-b")


def test_hostile_text_does_nothing_in_an_export(client, people):
    said = f"{HOSTILE} /srv/\u202egnp/app.py /srv/x/\x9b31m/y.py"
    fill(people, turn=[("user/message", "user", True, said)], summary=["Nothing. " * 20])
    caller = caller_for_user(people.alice)
    row = Signal.unscoped.first()
    review(caller, signal_for(caller, row.pk), "confirmed", HOSTILE + "\x9b31m")
    client.force_login(people.bob)
    for name in ("jsonl", "csv"):
        text = body(client, f"/signals/export.{name}?verdict=all").removeprefix(BOM)
        assert not [c for c in "\x1b\x9b\u202e\u2028" if c in text], name
    texts = {json.loads(line)["signal"]["text"] for line in jsonl(every(caller, Filters()))}
    assert texts == set(Signal.unscoped.values_list("text", flat=True)), "escaped in the file, itself when read back"
    assert any("\u202e" in one for one in texts)


@pytest.mark.parametrize("name", ["jsonl", "csv"])
def test_an_export_holds_only_what_its_reader_may_see(client, people, name):
    fill(people)
    client.force_login(people.mallory)
    assert len(body(client, f"/signals/export.{name}").splitlines()) == (1 if name == "csv" else 0)
    people.team.content_visibility = Visibility.OWNER
    people.team.save()
    for person, sees in ((people.vera, False), (people.bob, True), (people.alice, True)):
        client.force_login(person)
        assert (len(body(client, f"/signals/export.{name}").splitlines()) > 1) is sees
    client.logout()
    assert client.get(f"/signals/export.{name}").status_code == 302


@pytest.mark.parametrize("query", ["?kind=x", "?verdict=", "?since=yesterday", "?session=x"])
def test_a_filter_that_means_nothing_is_refused(client, people, query):
    client.force_login(people.vera)
    answer = client.get(f"/signals/export.csv{query}")
    assert answer.status_code == (200 if query == "?verdict=" else 400)
