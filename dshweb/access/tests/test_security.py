"""What every answer carries and every request must pass: headers, hosts, bodies, CSRF, tries, addresses to go on to."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.hashers import MD5PasswordHasher
from django.core.cache import cache
from django.http import HttpResponse
from django.test import Client
from django.urls import path

from dshweb.access import middleware
from dshweb.access.models import User
from dshweb.access.services import attempts, links, tokens
from dshweb.log import Line
from dshweb.urls import urlpatterns as ours

pytestmark = pytest.mark.django_db
ROOT = Path(settings.BASE_DIR)


def broken(_request):
    raise RuntimeError("for the test")


@login_not_required
def large(_request):
    return HttpResponse("in")


urlpatterns = [*ours, path("broken/", broken), path("upload/large/", large)]


@pytest.fixture(autouse=True)
def _no_tries_yet():
    cache.clear()


def of(user, **more) -> Client:
    client = Client(raise_request_exception=False, **more)
    client.force_login(user)
    return client


EVERYWHERE = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@pytest.mark.urls("dshweb.access.tests.test_security")
@pytest.mark.parametrize(
    ("status", "address"),
    [
        (200, "/account/"), (200, "/admin/"), (404, "/nowhere"), (403, "/teams/new/"), (500, "/broken/"), (200, "/healthz"),
        (302, "/"), (404, "/api/v1/nowhere"), (200, "/api/openapi.json"), (400, "/account/?a=%00"), (200, "/static/a.css"),
        (405, "/logout/"),
    ],
)  # fmt: skip
def test_headers_on_pages_api_static_files_and_errors(people, status, address):
    (settings.STATIC_ROOT / "a.css").write_text("a{}")
    User.objects.filter(pk=people.alice.pk).update(is_staff=True)
    answer = of(people.alice).get(address)
    assert answer.status_code == status
    for name, value in EVERYWHERE.items():
        assert answer[name] == value, name
    policy = dict(part.strip().partition(" ")[::2] for part in answer["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert {value for name, value in policy.items() if name.endswith("-src") and name != "default-src"} == {"'self'"}
    assert policy["form-action"] == "'self'"
    assert "camera=()" in answer["Permissions-Policy"]
    if not address.startswith("/static"):
        assert answer["X-Frame-Options"] == "DENY"
        assert re.search("private|no-store", answer["Cache-Control"])


def test_a_host_we_do_not_answer_to_is_refused_everywhere(people):
    client = of(people.alice)
    for address in ("/", "/account/", "/login/", "/api/v1/tasks", "/healthz", "/nowhere"):
        answer = client.get(address, headers={"host": "evil.example"})
        assert answer.status_code == 400, address
        assert b"evil.example" not in answer.content
        assert answer["X-Content-Type-Options"] == "nosniff"


def test_a_forwarded_host_is_not_believed(people):
    page = of(people.alice).post(
        "/teams/ours/members/",
        {"username": "dora", "role": "viewer", "new": "new", "once": "a-word"},
        headers={"X-Forwarded-Host": "evil.example"},
    )
    assert "/login/link/" in page.content.decode()
    assert "evil.example" not in page.content.decode()


INLINE = re.compile(r"""<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=["']|javascript:""", re.IGNORECASE)


def test_no_template_of_ours_has_anything_inline():
    found = [
        f"{file.relative_to(ROOT)}: {match.group()}"
        for file in sorted((ROOT / "templates").rglob("*.html"))
        for match in INLINE.finditer(file.read_text())
        if not re.search(r"""type=["']application/json["']""", file.read_text()[match.start() : match.start() + 80])
    ]
    assert found == []


BEHIND = """
import django, json
django.setup()
from django.conf import settings
from django.test import Client, override_settings
settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
client, found = Client(), {}
answer = client.get("/login/", headers={"host": "localhost"})
found["plain"] = [answer.status_code, answer["Location"]]
found["probe"] = client.get("/healthz", headers={"host": "localhost"}).status_code
answer = client.get("/login/", headers={"host": "localhost", "X-Forwarded-Proto": "https"})
found["tls"] = [answer.status_code, answer["Strict-Transport-Security"]]
answer = client.post("/preferences/theme", {"theme": "dark"}, headers={"host": "localhost", "X-Forwarded-Proto": "https"})
found["cookies"] = {name: [bool(c["secure"]), bool(c["httponly"]), c["samesite"], c["path"]] for name, c in client.cookies.items()}
found["session"] = [settings.SESSION_COOKIE_NAME, settings.SESSION_COOKIE_SECURE, settings.SESSION_COOKIE_HTTPONLY]
print(json.dumps(found))
"""


def test_behind_tls_everything_is_secure_and_plain_http_is_sent_there(tmp_path):
    env = {
        "PATH": "/usr/bin:/bin", "DJANGO_SETTINGS_MODULE": "dshweb.settings", "BEHIND_TLS": "yes",
        "DSHWEB_DATA_DIR": str(tmp_path), "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", BEHIND], env=env, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["plain"] == [301, "https://localhost/login/"]
    assert found["probe"] == 200, "asked from beside us, without TLS"
    assert found["tls"] == [200, "max-age=31536000"]
    assert found["session"] == ["__Host-dshweb_session", True, True]
    assert found["cookies"]["__Host-dshweb_csrf"] == [True, True, "Lax", "/"]
    assert found["cookies"]["theme"] == [True, True, "Lax", "/"]


def test_cookies_are_out_of_reach_of_scripts_and_other_sites(people):
    client = Client()
    client.get("/login/")
    client.post("/login/", {"username": "bob", "password": "bob-password"})
    for name in ("dshweb_session", "dshweb_csrf"):
        cookie = client.cookies[name]
        assert (bool(cookie["httponly"]), cookie["samesite"]) == (True, "Lax"), name


POSTS = [
    "/login/", "/logout/", "/password/", "/account/sign-out", "/account/tokens/", "/account/tokens/1/revoke", "/preferences/",
    "/preferences/theme", "/preferences/language", "/teams/new/", "/teams/ours/settings", "/teams/ours/leave",
    "/teams/ours/members/", "/teams/ours/members/1/", "/teams/ours/members/1/link", "/teams/ours/members/1/remove",
    "/teams/ours/tokens/1/revoke", "/login/link/abc/",
]  # fmt: skip


@pytest.mark.parametrize("address", POSTS)
def test_a_form_from_another_site_does_nothing(people, address):
    client = of(people.alice, enforce_csrf_checks=True)
    answer = client.post(address, {"name": "x", "theme": "dark", "language": "en"})
    assert answer.status_code == 403
    assert client.get("/account/").status_code == 200, "still logged in"
    fitting = client.get("/account/").content.decode()
    token = re.search(r'csrfmiddlewaretoken" value="([^"]+)', fitting)[1]
    crossed = client.post(address, {"csrfmiddlewaretoken": token}, headers={"Origin": "https://evil.example"})
    assert crossed.status_code == 403


@pytest.mark.parametrize(
    "there",
    [
        "https://evil.example/", "//evil.example/", "///evil.example", "/\\evil.example", "\\\\evil.example", "javascript:alert(1)",
        "https:evil.example", "http:///evil.example", "/\t/evil.example", "\x01//evil.example", "data:text/html,x",
    ],
)  # fmt: skip
def test_nothing_leads_to_another_site(people, there):
    right = {"username": "bob", "password": "bob-password", "next": there}
    for form, address in ((right, "/login/"), ({"theme": "dark", "next": there}, "/preferences/theme")):
        answer = Client().post(address, form)
        assert answer.status_code == 302
        assert "evil" not in answer["Location"]
        assert answer["Location"].startswith("/")
    of(people.bob).get("/login/", {"next": there})
    answer = of(people.bob).get("/login/", {"next": there})
    assert "evil" not in answer["Location"]


class CountingHasher(MD5PasswordHasher):
    algorithm = "counting"
    count = 0

    def encode(self, password, salt):
        type(self).count += 1
        return super().encode(password, salt)


def test_whether_a_name_exists_cannot_be_told_by_words_or_work(people, settings):
    """As many password hashes are made for a name that is not there, has no password or is switched off."""
    settings.PASSWORD_HASHERS = [f"{__name__}.CountingHasher"]
    for name, more in (("there", {}), ("off", {"is_active": False})):
        User.objects.create_user(name, password="something-long", **more)
    User.objects.create_user("linked")
    answers, work = set(), set()
    for name in ("there", "off", "linked", "nobody"):
        cache.clear()
        CountingHasher.count = 0
        page = Client().post("/login/", {"username": name, "password": "wrong"})
        words = re.sub(r'value="[^"]*"', "", page.content.decode())
        answers.add((page.status_code, words))
        work.add(CountingHasher.count)
    assert len(answers) == 1
    assert work == {1}


def test_too_many_logins_say_when_to_come_back(people):
    client = Client(REMOTE_ADDR="192.0.2.1")
    for _ in range(attempts.PER_NAME):
        client.post("/login/", {"username": "bob", "password": "wrong"})
    answer = client.post("/login/", {"username": "bob", "password": "bob-password"})
    assert (answer.status_code, answer["Retry-After"]) == (429, "900")


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("fe80::1%eth0", "fe80::2%eth1", True),
        ("unix:", "unix:", True),
    ],
)
def test_one_line_of_ipv6_counts_as_one_address(first, second, same):
    for _ in range(attempts.PER_NAME):
        assert attempts.take("bob", first)
    assert attempts.take("bob", second) is not same


def test_right_logins_use_no_tries_up(people):
    client = Client(REMOTE_ADDR="192.0.2.1")
    for _ in range(attempts.PER_ADDRESS + 5):
        assert attempts.take("bob", "192.0.2.1")
        attempts.forget("bob", "192.0.2.1")
    assert client.post("/login/", {"username": "bob", "password": "bob-password"}).status_code == 302


def bearer(secret: str, **more) -> dict:
    return {"headers": {"Authorization": f"Bearer {secret}"}, **more}


def test_a_bad_token_is_not_saved_by_a_good_login(people):
    client = of(people.alice)
    assert client.get("/api/v1/tasks").status_code == 200
    for bad in (
        "Bearer dshw_" + "x" * 43,
        "Bearer",
        "Basic YWxpY2U6eA==",
        "",
        "Bearer \udcff".encode("utf-8", "replace").decode(),
    ):
        answer = client.get("/api/v1/tasks", headers={"Authorization": bad})
        assert answer.status_code == 401, bad
        assert answer.json()["code"] == "unauthenticated"
        assert "WWW-Authenticate" in answer


def test_a_token_without_the_scope_is_told_so(people):
    _, secret = tokens.make(people.team, people.bob, "t", ["ingest"])
    answer = Client().get("/api/v1/tasks", **bearer(secret))
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


def test_a_token_opens_no_page(people):
    _, secret = tokens.make(people.team, people.alice, "t", ["read", "ingest", "review"])
    for address in ("/account/", "/teams/ours/", "/sessions/", "/teams/ours/log.csv", "/admin/"):
        assert Client().get(address, **bearer(secret)).status_code == 302, address


def test_bad_tokens_are_limited_per_address_and_good_ones_are_not(people):
    client = Client(REMOTE_ADDR="192.0.2.1")
    _, secret = tokens.make(people.team, people.bob, "t", ["read"])
    for _ in range(attempts.TOKENS_PER_ADDRESS):
        request = client.get("/api/v1/tasks", **bearer("dshw_no"))
    assert request.status_code == 401
    answer = client.get("/api/v1/tasks", **bearer("dshw_no"))
    assert (answer.status_code, answer.json()["code"], answer["Retry-After"]) == (429, "too-many", "900")
    assert client.get("/api/v1/tasks", **bearer(secret)).status_code == 200
    assert Client(REMOTE_ADDR="192.0.2.2").get("/api/v1/tasks", **bearer("dshw_no")).status_code == 401


@pytest.mark.parametrize("address", ["/login/", "/preferences/theme", "/account/tokens/", "/nowhere", "/admin/login/"])
def test_a_large_body_is_refused_by_its_length(people, address):
    for client in (Client(), of(people.alice)):
        answer = client.post(
            address, "x", content_type="multipart/form-data; boundary=x", CONTENT_LENGTH=str((10 << 20) + 1)
        )
        assert answer.status_code == 413, address
    assert answer["X-Content-Type-Options"] == "nosniff"


@pytest.mark.urls("dshweb.access.tests.test_security")
def test_only_uploads_take_more_and_only_from_who_is_known(people, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    body = {"data": "x" * 1001, "content_type": "application/octet-stream"}
    assert of(people.bob).post("/upload/large/", **body).status_code == 200
    assert Client().post("/upload/large/", **body).status_code == 413
    made_up = {"Authorization": "Bearer dshw_no"}
    assert Client().post("/upload/large/", **body, headers=made_up).status_code == 413, "a page looks at no token"
    assert Client().post("/api/v1/logs", **body, headers=made_up).status_code == 401
    settings.LARGE_BODIES = ()
    assert of(people.bob).post("/upload/large/", **body).status_code == 413


def test_a_stranger_who_stalls_holds_up_strangers_forms_only(people, monkeypatch):
    monkeypatch.setattr(middleware, "STRANGER_SECONDS", 0)
    form = {"username": "bob", "password": "bob-password"}
    with middleware._strangers:  # a stranger's form that does not end
        answer = Client().post("/login/", form)
        assert (answer.status_code, answer["Retry-After"]) == (503, "2")
        assert Client().get("/login/").status_code == 200
        assert Client().post("/api/v1/logs").status_code == 401
        assert of(people.bob).post("/preferences/theme", {"theme": "dark"}).status_code == 302
    assert Client().post("/login/", form).status_code == 302


def test_a_large_call_of_the_api_is_refused_in_its_shape(people):
    answer = of(people.alice).post(
        "/api/v1/tasks/1/cancel", "x", content_type="application/json", CONTENT_LENGTH=str(1 << 40)
    )
    assert (answer.status_code, answer.json()["code"]) == (413, "too-large")
    assert (
        Client().post("/api/v1/tasks/1/cancel", "x", content_type="text/plain", CONTENT_LENGTH="-5").status_code == 413
    )


def test_the_admin_has_no_login_of_its_own(people):
    answer = Client().get("/admin/", follow=True)
    assert answer.redirect_chain[-1][0].startswith("/login/?next=/admin/")
    for _ in range(3):
        assert Client().post("/admin/login/", {"username": "bob", "password": "bob-password"}).status_code == 302
    assert "_auth_user_id" not in Client().session
    assert of(people.bob).get("/admin/", follow=True).status_code == 403
    assert Client().get("/admin/login/", {"next": "https://evil.example/"})["Location"].startswith("/login/?next=https")
    User.objects.filter(pk=people.bob.pk).update(is_staff=True)
    assert of(people.bob).get("/admin/password_change/")["Location"] == "/password/"


def test_a_call_with_a_cookie_needs_the_csrf_token_too(people):
    answer = of(people.alice, enforce_csrf_checks=True).post(
        "/api/v1/tasks/1/cancel", "{}", content_type="application/json"
    )
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


@pytest.mark.parametrize(
    ("method", "address"),
    [
        ("post", "/api/v1/logs"),
        ("put", "/api/v1/logs/a/b?offset=0"),
        ("post", "/api/v1/tasks/1/cancel"),
        ("delete", "/api/v1/sessions/1"),
    ],
)
def test_nobody_is_told_so_and_not_of_csrf(people, method, address):
    """Nor is the form read in which the CSRF token could be: it may be a stranger's large file."""
    client = Client(enforce_csrf_checks=True)
    assert client.get("/login/").cookies["dshweb_csrf"].value
    answer = getattr(client, method)(address, b"no form", content_type="multipart/form-data; boundary=")
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")


def test_no_way_in_is_written_to_the_servers_log(people, caplog):
    secret = links.make(people.bob)
    _, token = tokens.make(people.team, people.bob, "t", ["read"])
    Client(enforce_csrf_checks=True).post(f"/login/link/{secret}/")
    Client().get(f"/nowhere/{token}")
    assert secret in caplog.text, "Django says which address it refused"
    line = Line("%(message)s")
    written = "\n".join(line.format(record) for record in caplog.records)
    assert secret not in written
    assert token not in written
    assert "/login/link/…" in written
    assert settings.LOGGING["formatters"]["line"]["()"] == settings.LOGGING["formatters"]["brief"]["()"].replace(
        "Brief", "Line"
    )
