"""Whatever goes wrong in a call, it answers `{"code", "message"}` in JSON."""

from __future__ import annotations

import pytest

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
