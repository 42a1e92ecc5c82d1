"""Pictures of the pages, for people to look at: light and dark, narrow and wide, zh and en, full and empty.

    python tests/browser/shots.py [FOLDER [NAME…]]

Starts a server of its own on a temporary data folder filled with rows made by hand (`dshweb.ui.tests.sample`).
With names, only pages whose name contains one of them. Prints what does not fit: pages wider than their window, errors
in the console.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parent.parent.parent
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
ARGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
LOGIN = """
from importlib import import_module
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
def login(user):
    store = import_module(settings.SESSION_ENGINE).SessionStore()
    store.update({SESSION_KEY: str(user.pk), BACKEND_SESSION_KEY: settings.AUTHENTICATION_BACKENDS[0],
                  HASH_SESSION_KEY: user.get_session_auth_hash()})
    store.save()
    return store.session_key
"""
FILL = (
    LOGIN
    + """
from dshweb.access.models import Membership, Role, Team, User
from dshweb.ui.tests.rows import make_policy
from dshweb.ui.tests.sample import fill
for name in ("full", "empty"):
    team = Team.objects.create(slug=name, name=name.title())
    user = User.objects.create_user(name, is_staff=True, is_superuser=name == "full")
    Membership.objects.create(team=team, user=user, role=Role.ADMIN)
    if name == "full":
        make_policy(team)
        fill(team, user)
    print(name, login(user))
"""
)
PAGES = {
    "sessions": "/sessions/", "session": "/sessions/1/", "hostile": "/sessions/3/", "compaction": "/compactions/1/",
    "failed": "/compactions/2/", "blank": "/compactions/4/", "waits": "/compactions/5/", "sources": "/sources/",
    "tasks": "/tasks/", "task": "/tasks/1/", "missing": "/sessions/999/",
}  # fmt: skip
EMPTY = {"sessions": "/sessions/", "sources": "/sources/", "tasks": "/tasks/"}


def manage(*args: str, env: dict[str, str], stdin: str = "") -> str:
    done = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), *args],
        input=stdin,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def main(folder: Path, names: list[str]) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as data, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        env = os.environ | {"DSHWEB_DATA_DIR": data, "LOG_LEVEL": "WARNING"}
        manage("migrate", "-v0", env=env)
        manage("collectstatic", "--noinput", "-v0", env=env)
        shell = manage("shell", "--no-imports", env=env, stdin=FILL)
        logins = dict(line.split() for line in shell.splitlines() if len(line.split()) == 2)
        command = [
            sys.executable,
            str(ROOT / "manage.py"),
            "runserver",
            "--noreload",
            "--insecure",
            f"127.0.0.1:{port}",
        ]
        server = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_for(f"http://127.0.0.1:{port}/static/img/favicon.svg")
            return shoot(folder, f"http://127.0.0.1:{port}", logins, names)
        finally:
            server.terminate()
            server.wait()


def wait_for(url: str) -> None:
    for _ in range(100):
        try:
            urlopen(url).close()
            return
        except OSError:
            time.sleep(0.2)
    sys.exit("the server did not start")


def shoot(folder: Path, base: str, logins: dict[str, str], names: list[str]) -> int:
    from playwright.sync_api import sync_playwright

    bad = 0
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        for width, theme, language in (
            (1440, "light", "en"),
            (1440, "dark", "zh-hans"),
            (360, "light", "zh-hans"),
            (360, "dark", "en"),
        ):
            for who, pages in (("full", PAGES), ("empty", EMPTY)):
                context = browser.new_context(viewport={"width": width, "height": 900}, java_script_enabled=width > 400)
                context.add_cookies([
                    {"name": name, "value": value, "url": base}
                    for name, value in (("dshweb_session", logins[who]), ("theme", theme), ("django_language", language))
                ])  # fmt: skip
                page = context.new_page()
                page.on("console", lambda message: print("console:", message.text) if message.type == "error" else None)  # noqa: T201
                for name, path in pages.items():
                    label = f"{who}-{name}-{width}-{theme}-{language[:2]}"
                    if names and not any(one in label for one in names):
                        continue
                    page.goto(base + path)
                    wide = page.evaluate("document.documentElement.scrollWidth") if width > 400 else 0
                    if wide > width:
                        bad += 1
                        print(f"{label}: {wide} px wide")  # noqa: T201
                    page.screenshot(path=folder / f"{label}.png", full_page=True)
                context.close()
        browser.close()
    return bad


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "var" / "shots", sys.argv[2:]))
