"""Handing logs in with a real browser: progress and results on the page, trouble on the way, and the plain form."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from dshweb.sessionlog.models import Session
from dshweb.tasks.services import drain
from tests.browser import IN_BROWSER

CORPUS = Path(__file__).resolve().parents[1] / "data" / "corpus"

pytestmark = IN_BROWSER


@pytest.fixture
def visit(opens, client, people, data_dir):
    """bob's browser at the upload page."""
    client.force_login(people.bob)
    return partial(opens, "/upload/")


@pytest.fixture
def three(tmp_path):
    """Two logs, and one file that is none."""
    logs = [next((CORPUS / case).rglob("*.zstd")) for case in ("plain-chat-en", "manual-compact")]
    broken = tmp_path / "holiday<b>.v4.jsonl"
    broken.write_bytes(b"not a log")
    return [str(path) for path in (logs[0], broken, logs[1])]


def test_three_files_of_which_one_is_broken(visit, people, three):
    page = visit()
    page.set_input_files("#file", three)
    page.locator(".ups [data-task]").nth(2).wait_for()
    drain(people.team)
    page.wait_for_selector(".ups .badge-red")
    page.locator(".ups a.cell-main").nth(1).wait_for()
    page.locator(".ups [data-busy]").first.wait_for(state="detached")
    told = page.inner_text(".ups")
    assert told.count("intact") == 2
    assert "holiday<b>.v4.jsonl" in told
    assert "torn_row" in told
    assert Session.unscoped.count() == 2
    assert page.locator(".ups a[href*='/compactions/']").count() == 1
    assert page.complaints == []
    page.click("text=Link to these results")
    assert page.inner_text("h1") == "Uploaded files"
    assert page.locator(".upped").count() == 3


def test_what_is_too_large_or_empty_is_not_even_sent(visit, settings, three, tmp_path):
    settings.MAX_UPLOAD_BYTES = 1000
    page = visit()
    asked = []
    page.on("request", lambda request: asked.append(request.url) if request.method == "POST" else None)
    empty = tmp_path / "empty.v4.jsonl"
    empty.touch()
    page.set_input_files("#file", [three[0], str(empty)])
    assert page.locator(".ups .wrong").count() == 2
    assert asked == []


def test_a_connection_that_breaks_off_is_said_and_the_file_can_be_sent_again(visit, people, three):
    page = visit()
    page.route("**/api/v1/logs*", lambda route: route.abort())
    page.set_input_files("#file", three[:1])
    page.wait_for_selector(".ups button:visible")
    assert "the connection broke off" in page.inner_text(".ups")
    page.unroute("**/api/v1/logs*")
    page.click(".ups button")
    page.wait_for_selector(".ups [data-task]")
    drain(people.team)
    page.wait_for_selector(".ups a.cell-main")
    assert Session.unscoped.count() == 1


def test_leaving_while_a_file_is_on_its_way_is_asked_about(visit, three):
    page = visit()
    page.route("**/api/v1/logs*", lambda route: None)  # never answered
    page.set_input_files("#file", three[:1])
    page.wait_for_selector(".ups li")
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.click(".brand")
    page.wait_for_url("**/sessions/")
    assert asked == ["beforeunload"]


def test_files_can_be_dropped(visit, three):
    page = visit()
    data = page.evaluate_handle("""() => {
        const data = new DataTransfer();
        data.items.add(new File(["x"], "dropped.v4.jsonl"));
        return data;
    }""")
    page.dispatch_event("[data-drop]", "dragenter", {"dataTransfer": data})
    assert page.locator(".drop-over").count() == 1
    page.dispatch_event("[data-drop]", "drop", {"dataTransfer": data})
    assert "dropped.v4.jsonl" in page.inner_text(".ups")
    assert page.locator(".drop-over").count() == 0


def test_of_a_dropped_folder_what_cannot_be_read_is_named_and_the_rest_is_sent(visit):
    page = visit()
    page.evaluate("""() => {
        const file = (name, read) => ({ name, isFile: true, isDirectory: false, file: read });
        const inside = [
            file("locked.v4.jsonl", (_done, fail) => fail(new DOMException("no", "NotReadableError"))),
            file("notes.txt", (done) => done(new File(["x"], "notes.txt"))),
            file("good.v4.jsonl", (done) => done(new File(["x"], "good.v4.jsonl"))),
        ];
        const folder = { name: "home", isFile: false, isDirectory: true,
            createReader: () => ({ readEntries: (done) => done(inside.splice(0)) }) };
        const drop = new Event("drop");
        drop.dataTransfer = { files: [], items: [{ webkitGetAsEntry: () => folder }] };
        document.querySelector("[data-drop]").dispatchEvent(drop);
    }""")
    page.wait_for_selector(".ups li >> nth=1")
    said = page.locator(".ups li").all_inner_texts()
    assert "locked.v4.jsonl" in said[0]
    assert "could not be read" in said[0]
    assert "good.v4.jsonl" in said[1]
    assert len(said) == 2


def test_without_scripts_the_form_is_enough(visit, people, three, live_server):
    page = visit(scripts=False)
    page.set_input_files("#file", three)
    page.click("text=Upload >> nth=-1")
    assert page.inner_text("h1") == "Uploaded files"
    drain(people.team)
    page.click("text=Look again")
    assert "2 are in" in page.inner_text("main")
    assert "1 could not be read" in page.inner_text("main")


def test_the_box_is_reached_and_opened_by_keyboard(visit):
    page = visit()
    page.focus("#file")
    assert page.evaluate("getComputedStyle(document.querySelector('[data-drop]')).boxShadow") != "none"
    page.bring_to_front()
    with page.expect_file_chooser():
        page.press("#file", "Enter")
