"""The pictures that the READMEs and docs/screenshots show, of the demo: each page and state as a person comes to it.

    python tests/browser/shots_docs.py [FOLDER [NAME…]]

Starts `serve --demo` on a temporary data folder. With names, only pictures whose name contains one of them. They are reduced to
a palette of 256 colours, so that a clone of the repository stays small.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.browser.palette import reduced
from tests.browser.shots import ARGS, CHROMIUM, LOGIN, ROOT, manage

PREPARE = (
    LOGIN
    + """
import os
from compaction.models import ModelRoute, Profile
from dshweb.access.models import Membership, Role, Team, User
from dshweb.sessionlog.models import Session
team = Team.objects.get(slug="main")
for name, role in (("ada", Role.ADMIN), ("lin", Role.ADMIN), ("vera", Role.VIEWER)):
    user = User.objects.create_user(name, is_superuser=name == "ada", is_staff=name == "ada")
    Membership.objects.create(team=team, user=user, role=role, can_review=True)
    print("login", name, login(user))
ModelRoute.unscoped.filter(team=team, model="deepseek-v4-pro").update(efforts=["low", "medium", "high"], default_effort="medium")
print("drawn", Session.unscoped.get(title__startswith="Move job settings").pk)
foreign = Session.unscoped.exclude(preset="").exclude(preset="better-compact").first()
print("foreign", foreign.pk if foreign else "none")
written = Profile.unscoped.create(team=team, name="build-box", path=os.environ["PATCH_FILE"])
print("default", Profile.unscoped.get(team=team, is_default=True).pk)
print("written", written.pk)
"""
)
PATCH = """\
# what this machine runs; ask Lin before changing the model
- id: model-router
  config:
    retries: 2   # the gateway drops one call in a hundred

- id: dsh-better-compact
  config:
    thresholdRatio: 0.85   # tried in May, still right
    headroomTokens: 32768
"""
Act = Callable[[Any, "Place"], None]


@dataclass(frozen=True)
class Place:
    """Where the server is, who is logged in by which cookie, and the rows that the pictures show."""

    base: str
    cookies: dict[str, str]
    rows: dict[str, str]
    open_as: Callable[[str], Any]

    def settings(self, query: str = "drawn") -> str:
        return f"{self.base}/profiles/{self.rows['default']}/compaction/?session={self.rows.get(query, query)}"


@dataclass(frozen=True)
class Picture:
    name: str
    act: Act
    width: int = 1440
    height: int = 900
    theme: str = "light"
    language: str = "en"
    who: str = "ada"
    script: bool = True


def main(folder: Path, names: list[str]) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as data:
        patch = Path(data, "cordis.patch.yml")
        patch.write_text(PATCH)
        env = os.environ | {"DSHWEB_DATA_DIR": data, "PATCH_FILE": str(patch), "LOG_LEVEL": "WARNING"}
        with serving(env) as base:
            shell = manage("shell", "--no-imports", env=env, stdin=PREPARE)
            lines = [line.split() for line in shell.splitlines()]
            cookies = {line[1]: line[2] for line in lines if len(line) == 3 and line[0] == "login"}
            shoot(folder, base, cookies, {line[0]: line[1] for line in lines if len(line) == 2}, names)
    return 0


@contextmanager
def serving(env: dict[str, str]) -> Iterator[str]:
    """`serve --demo` on a free port until the end of the block; gives its address."""
    command = [sys.executable, "-u", str(ROOT / "manage.py"), "serve", "--demo", "--port", "0"]
    server = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout is not None
        for line in server.stdout:
            if found := re.search(r"listens on .*(http://[\d.:]+)/", line):
                yield found[1]
                return
        sys.exit("the server did not start")
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()


def shoot(folder: Path, base: str, cookies: dict[str, str], rows: dict[str, str], names: list[str]) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        empty = browser.new_page()
        for one in PICTURES:
            if names and not any(name in one.name for name in names):
                continue
            print(one.name)  # noqa: T201

            def open_as(who: str, one: Picture = one) -> Any:
                context = browser.new_context(
                    viewport={"width": one.width, "height": one.height}, java_script_enabled=one.script
                )
                said = (("dshweb_session", cookies[who]), ("theme", one.theme), ("django_language", one.language))
                context.add_cookies([{"name": name, "value": value, "url": base} for name, value in said])
                return context.new_page()

            page = open_as(one.who)
            place = Place(base, cookies, rows, open_as)
            one.act(page, place)
            Path(folder, f"{one.name}.png").write_bytes(reduced(page.screenshot(), empty))
            page.context.close()
        browser.close()


def settled(page: Any) -> None:
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(500)  # a picture is looked at by people: transitions are over


def seen(page: Any, place: Place) -> None:
    page.goto(place.settings())
    settled(page)


def at(selector: str) -> Act:
    """The page with the part that `selector` names at the top."""

    def act(page: Any, place: Place) -> None:
        seen(page, place)
        show(page, selector)

    return act


def show(page: Any, selector: str) -> None:
    page.evaluate("s => scrollTo(0, document.querySelector(s).getBoundingClientRect().top + scrollY - 70)", selector)
    settled(page)


def change(page: Any, place: Place, card: str, threshold: str) -> None:
    seen(page, place)
    page.get_by_role("radio", name=re.compile(card)).check()
    page.get_by_label("Threshold", exact=True).fill(threshold)
    settled(page)


def native(page: Any, place: Place) -> None:
    seen(page, place)
    page.get_by_role("radio", name=re.compile("native")).check()
    settled(page)


def refused(page: Any, place: Place) -> None:
    change(page, place, "hand-off", "1.2")
    page.locator("#id_retainTokens").fill("60000")
    page.locator("#id_route").select_option(label="deepseek-official/deepseek-v4-pro")
    settled(page)
    show(page, "#model-h")


def saved(page: Any, place: Place) -> None:
    change(page, place, "hand-off", "0.3")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("saved — reload profile").wait_for()
    page.evaluate("scrollTo(0, 0)")
    settled(page)


def conflict(page: Any, place: Place) -> None:
    change(page, place, "Goal", "0.6")
    other = place.open_as("lin")
    change(other, place, "native", "0.7")
    other.get_by_role("button", name="Save", exact=True).click()
    other.get_by_text("saved — reload profile").wait_for()
    other.context.close()
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Somebody else saved").wait_for()
    page.evaluate("scrollTo(0, 0)")
    settled(page)


def foreign(page: Any, place: Place) -> None:
    page.goto(place.settings("foreign"))
    settled(page)
    show(page, "#budget-h")


def history(page: Any, place: Place) -> None:
    page.goto(f"{place.base}/profiles/{place.rows['default']}/compaction/history/")
    settled(page)


def write(page: Any, place: Place) -> None:
    page.goto(f"{place.base}/profiles/{place.rows['written']}/compaction/")
    page.get_by_label("Threshold", exact=True).fill("0.75")
    settled(page)
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("saved — reload profile").wait_for()
    where = "code => { code.textContent = '/srv/dsh/profiles/build-box/cordis.patch.yml' }"
    page.locator("#export-file code.any").first.evaluate(where)  # not the folder of this run
    show(page, "#export")


def sessions(page: Any, place: Place) -> None:
    page.goto(f"{place.base}/sessions/?sort=attention")
    settled(page)


def compaction(title: str) -> Act:
    """The worst compaction of a session, with its second signal opened."""

    def act(page: Any, place: Place) -> None:
        sessions(page, place)
        row = page.locator("tr", has_text=title)
        page.goto(place.base + row.locator("a[href*='/compactions/']").first.get_attribute("href"))
        settled(page)
        page.keyboard.press("j")
        page.locator(".verdict-do > summary:visible").first.click()
        page.evaluate("scrollTo(0, 0)")
        settled(page)

    return act


PICTURES = (
    Picture("compaction", compaction("Review latency reports"), width=1280, height=1180),
    Picture("compaction.zh", compaction("订单服务配置"), width=1280, height=1180, theme="dark", language="zh-hans"),
    Picture("sessions", sessions, width=1280),
    Picture("sessions.zh", sessions, width=1280, language="zh-hans"),
    Picture("settings", seen, height=1560),
    Picture("settings.zh", seen, height=1560, language="zh-hans"),
    Picture("settings-budget", at("#budget-h"), height=1060),
    Picture("settings-dark.zh", seen, theme="dark", language="zh-hans", height=1060),
    Picture("settings-phone.zh", seen, width=360, height=1400, language="zh-hans"),
    Picture("settings-native", native, height=1060),
    Picture("settings-refused", refused),
    Picture("settings-saved", saved),
    Picture("settings-conflict", conflict),
    Picture("settings-foreign-engine", foreign),
    Picture("settings-viewer", seen, who="vera"),
    Picture("settings-history", history),
    Picture("settings-write", write),
)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "screenshots", sys.argv[2:]))
