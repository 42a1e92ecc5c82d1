"""Whatever goes wrong in a call, it answers `{"code", "message"}` in JSON."""

from __future__ import annotations

import pytest
from django.test import Client

from dshweb.tasks.models import Task
from tests.api_rows import bearer

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("path", "method", "status", "code"),
    [
        ("/api/v1/nothing", "get", 404, "not-found"),
        ("/api/v1/sessions/1/nothing/%00", "get", 400, "bad-request"),
    ],
)
def test_an_error_outside_an_endpoint_has_the_one_shape(client, path, method, status, code):
    answer = getattr(client, method)(path)
    assert answer.status_code == status
    assert answer.headers["Content-Type"] == "application/json"
    assert set(answer.json()) == {"code", "message"}
    assert answer.json()["code"] == code


def test_the_description_can_be_read_without_a_login(client):
    answer = client.get("/api/openapi.json")
    assert answer.status_code == 200
    assert answer.json()["info"]["title"] == "dshweb"


def part(name: str, file: str = "") -> bytes:
    more = f'; filename="{file}"' if file else ""
    return f'--b\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\nx\r\n'.encode()


@pytest.mark.parametrize(
    ("boundary", "body"),
    [
        ("", b"x"),
        ("b", b"".join(part("file", f"{n}.jsonl") for n in range(101)) + b"--b--\r\n"),
        ("b", b"".join(part(f"f{n}") for n in range(1001)) + b"--b--\r\n"),
    ],
    ids=["no boundary", "too many files", "too many fields"],
)
def test_a_form_that_cannot_be_read_is_the_callers_fault(people, data_dir, caplog, boundary, body):
    client = Client(headers=bearer(people.team, people.bob, "ingest"))
    answer = client.post("/api/v1/logs", body, content_type=f"multipart/form-data; boundary={boundary}")
    assert (answer.status_code, answer.json()["code"]) == (400, "bad-request")
    assert "dshweb.api.errors" not in {record.name for record in caplog.records}
    assert not Task.unscoped.exists()
