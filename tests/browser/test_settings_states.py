"""The settings page in its states: axe finds nothing serious in any of them, light or dark."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from compaction.core.document import Op
from compaction.models import Profile
from compaction.services import engine
from compaction.services.settings import mutate
from dshweb.sessionlog.models import Session
from tests.browser import IN_BROWSER
from tests.browser.test_settings import changes, save

pytestmark = [*IN_BROWSER, pytest.mark.slow]
STATES = ("refused", "conflict", "restart", "broken", "differs", "foreign", "history", "profiles")


@pytest.fixture(params=["light", "dark"])
def at(request, edit, profile, people, tmp_path):
    """Brings the page into a state by its name."""

    def refused(page):
        page.get_by_label("Retained tail (tokens)").fill("many")
        expect(page.locator('[data-part="said-retainTokens"] .wrong')).to_have_count(1)

    def conflict(page):
        page.get_by_label("Threshold", exact=True).fill("0.5")
        changes(page, "1 change")
        mutate(profile, (Op("set", "mode", "native"), Op("set", "thresholdRatio", 0.4)), 0, by=people.alice)
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.locator("[data-conflict].card")).to_be_visible()

    def restart(page):
        engine.take(profile)
        page.get_by_role("radio", name="DSH native").check()
        save(page)
        expect(page.get_by_text("The engine holds other settings.")).to_be_visible()

    def broken(page):
        page.context.set_offline(True)
        page.get_by_label("Threshold", exact=True).fill("0.5")
        expect(page.get_by_role("alert")).to_be_visible()

    def differs(page):
        path = tmp_path / "cordis.patch.yml"
        path.write_text("- id: compaction-basic\n  disabled: true\n  config: { retainTokens: 9 }\n")
        Profile.unscoped.filter(pk=profile.pk).update(path=str(path))
        page.reload()
        expect(page.get_by_role("button", name="Write to profile")).to_be_visible()

    def foreign(page):
        page.get_by_label("Show the state of").select_option(str(Session.unscoped.exclude(preset="").first().pk))
        expect(page.get_by_text("Another compaction engine runs this session", exact=False).first).to_be_visible()

    def history(page):
        mutate(profile, (Op("set", "mode", "native"),), 0, by=people.alice)
        page.get_by_role("link", name="All revisions").click()

    def profiles(page):
        page.get_by_role("link", name="Profiles").click()

    page, states = edit(cookies={"theme": request.param}), locals()

    def go(state: str):
        states[state](page)
        return page

    return go


@pytest.mark.parametrize("state", STATES)
def test_axe_finds_nothing_serious(at, state):
    found = Axe().run(at(state)).response["violations"]
    assert [
        (one["id"], [node["html"][:200] for node in one["nodes"]])
        for one in found
        if one["impact"] in ("serious", "critical")
    ] == []
