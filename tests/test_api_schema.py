"""The OpenAPI document keeps its word: every example runs and answers as declared; so does what schemathesis makes up."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote

import jsonschema_rs
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from dshweb.api.main import api
from dshweb.api.reference import operations
from tests.api_rows import LOG, bearer, filled

pytestmark = pytest.mark.django_db

DOCUMENT = json.loads(json.dumps(api.get_openapi_schema()))
OPERATIONS = list(operations(DOCUMENT))
NAMES = [f"{method} {path}" for path, method, _ in OPERATIONS]
EXAMPLES = [(path, method, op, one) for path, method, op in OPERATIONS for one in op.get("x-examples", [])]
EXAMPLE_NAMES = [f"{method} {path}: {one['summary']}" for path, method, _, one in EXAMPLES]


@pytest.fixture
def rows(people, data_dir):
    return filled(people, data_dir).ids


@pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS, ids=NAMES)
def test_a_call_says_what_it_does_who_may_call_it_and_shows_how(path, method, operation):
    assert operation.get("summary"), "no summary"
    assert operation.get("description"), "no docstring"
    assert operation.get("x-role"), "says not who may call (dshweb.api.about)"
    assert operation.get("x-examples"), "shows no example (dshweb.api.about)"
    statuses = set(operation["responses"])
    assert {"400", "401", "403", "422", "429"} <= statuses, "declares no refusals (dshweb.api.about.refused)"
    assert "404" in statuses or "{" not in path, "a call about one thing can find nothing"
    good = [answer for status, answer in operation["responses"].items() if status in ("200", "201", "202")]
    assert good or "204" in statuses
    assert all(answer.get("content") for answer in good), "an answer without a schema"
    shown = {str(one["status"]) for one in operation["x-examples"]}
    assert shown <= statuses


def in_place(path: str, operation: dict[str, Any], example: dict[str, Any], rows: dict[str, Any]) -> str:
    """The address of an example; numbers stand for rows that exist."""
    for parameter in operation.get("parameters", []):
        name = parameter["name"]
        if parameter["in"] == "path":
            value = rows[name] if parameter["schema"].get("type") == "integer" else example["path"][name]
            path = path.replace("{" + name + "}", quote(str(value), safe=""))
    assert "{" not in path
    return path


def call(client, method: str, path: str, example: dict[str, Any], headers: dict[str, str]):
    headers = headers | example.get("headers", {})
    sent: dict[str, Any] = {"query_params": example.get("query", {})}
    if "body" in example:
        sent |= {"data": json.dumps(example["body"]), "content_type": "application/json"}
    elif "raw" in example:
        kind = next(
            (value for name, value in headers.items() if name.lower() == "content-type"), "application/octet-stream"
        )
        sent |= {"data": LOG.read_bytes(), "content_type": kind}
    elif "files" in example:
        sent |= {"data": {name: SimpleUploadedFile(file, LOG.read_bytes()) for name, file in example["files"].items()}}
    headers = {name: value for name, value in headers.items() if name.lower() != "content-type"}
    return getattr(client, method)(path, headers=headers, **sent)


def body_of(answer) -> bytes:
    return b"".join(answer.streaming_content) if answer.streaming else answer.content


def complaints(operation: dict[str, Any], status: int, media: str, body: bytes) -> list[str]:
    """What is wrong with an answer by what the document says of it."""
    declared = operation["responses"].get(str(status))
    if declared is None:
        return [f"{status} is not declared"]
    content = declared.get("content", {})
    if not content:
        return [f"{status} has a body: {body[:200]!r}"] if body else []
    if media not in content:
        return [f"{status} is {media}, declared: {', '.join(content)}"]
    if media != "application/json":
        return []
    validator = jsonschema_rs.Draft202012Validator(content[media]["schema"] | {"components": DOCUMENT["components"]})
    return [f"{list(one.instance_path)}: {one.message[:300]}" for one in validator.iter_errors(json.loads(body))]


@pytest.mark.parametrize(("path", "method", "operation", "example"), EXAMPLES, ids=EXAMPLE_NAMES)
def test_every_example_runs_and_answers_as_declared(client, people, rows, path, method, operation, example):
    answer = call(client, method, in_place(path, operation, example, rows), example, bearer(people.team, people.alice))
    body = body_of(answer)
    assert answer.status_code == example["status"], body[:600]
    media = answer.headers.get("Content-Type", "").partition(";")[0]
    assert complaints(operation, answer.status_code, media, body) == []


@pytest.mark.parametrize(("path", "method", "operation", "example"), EXAMPLES, ids=EXAMPLE_NAMES)
def test_no_answer_holds_a_secret(client, people, rows, path, method, operation, example):
    """FR-101: digests of tokens, passwords, keys of sessions are in no answer, whoever asks."""
    from dshweb.access.models import ApiToken

    token = bearer(people.team, people.vera, "read")
    client.force_login(people.alice)
    secrets = [client.session.session_key, people.alice.password, people.vera.password, token["authorization"][7:]]
    secrets += ApiToken.unscoped.values_list("digest", flat=True)
    for headers in ({}, token):
        body = body_of(call(client, method, in_place(path, operation, example, rows), example, headers))
        assert not [secret for secret in secrets if secret.encode() in body]
        assert not re.search(rb"dshw_[A-Za-z0-9_-]{30,}", body)
