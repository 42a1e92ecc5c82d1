"""A server that is killed while settings are saved: nothing is shown as saved, the draft is kept, and it is saved in the end."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.shots import CHROMIUM
from tests.processes import environment, kill_all, rows, started, until
from tests.servers import free_port

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(not Path(CHROMIUM).exists(), reason=f"no browser at {CHROMIUM}"),
]


def told(log: Path) -> str:
    return log.read_text() if log.exists() else ""


def test_a_draft_outlives_a_killed_server(browser, tmp_path):
    data, log, port = tmp_path / "data", tmp_path / "log", free_port()
    env, arguments = environment(data), ["serve", "--port", str(port)]
    settings = f"http://127.0.0.1:{port}/profiles/1/compaction/"
    page = browser.new_context().new_page()
    with started(arguments, env, log) as server:
        until(lambda: "/login/link/" in told(log), "it gives a login link", server, log)
        page.goto(re.search(r"http://\S+/login/link/\S+", told(log))[0])
        page.locator("main form button.btn-main").click()
        page.goto(settings)
        page.get_by_label("Threshold", exact=True).fill("0.5")
        expect(page.locator('[data-part="save"] strong')).to_have_text("1 change")
        expect(page.get_by_role("button", name="Save", exact=True)).to_be_enabled()
        kill_all(server.pid)
        server.wait()
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("Nothing is shown as saved")
        expect(page.get_by_text("saved — reload profile")).to_have_count(0)
        expect(page.get_by_label("Threshold", exact=True)).to_have_value("0.5")
    log.unlink()
    with started(arguments, env, log) as server:
        until(lambda: "listens on" in told(log), "it listens again", server, log)
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("saved — reload profile")).to_be_visible()
        assert rows(data, "SELECT revision, document FROM compaction_profile") == [(1, '{"thresholdRatio": 0.5}')]
    page.context.close()
