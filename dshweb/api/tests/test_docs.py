"""`/api/docs`: open to read, complete, and what it shows is escaped."""

from __future__ import annotations

import html
import re

import pytest
from django.conf import settings

from dshweb.access.page_forms import SCOPE_WORDS
from dshweb.api import words
from dshweb.api.docs import GROUPS
from dshweb.api.main import api
from dshweb.api.reference import Kind, command, kind, reference

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_every_call_is_on_the_page_with_its_examples(client, language):
    answer = client.get("/api/docs", headers={"accept-language": language})
    assert answer.status_code == 200
    page = html.unescape(answer.content.decode())
    for path, item in api.get_openapi_schema()["paths"].items():
        assert path in page
        for operation in item.values():
            for one in operation.get("x-examples", []):
                assert command("http://testserver", path, "get", one).split(" \\")[0] in page
    assert "/api/openapi.json" in page


def test_every_group_of_calls_has_a_title():
    assert set(reference(api.get_openapi_schema(), "").groups) <= set(GROUPS)


def test_every_scope_that_a_call_needs_can_be_given_to_a_token():
    needed = {one["x-scope"] for item in api.get_openapi_schema()["paths"].values() for one in item.values()}
    assert needed - {""} <= {scope.value for scope in SCOPE_WORDS}


def test_examples_that_name_a_session_by_its_id_name_one_of_the_demo():
    shown = [
        one
        for item in api.get_openapi_schema()["paths"].values()
        for call in item.values()
        for one in call["x-examples"]
    ]
    named = {one["query"]["sessionId"] for one in shown if "sessionId" in one.get("query", {})}
    demo = {folder.name for folder in (settings.BASE_DIR / "demo" / "sessions").glob("*/session-*")}
    assert named
    assert named <= demo


def test_every_link_inside_the_page_leads_somewhere(client):
    page = client.get("/api/docs").content.decode()
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(re.findall(r'id="([^"]+)"', page))


def test_every_page_links_to_it(client):
    assert 'href="/api/docs"' in client.get("/login/").content.decode()


@pytest.mark.parametrize(
    ("schema", "words", "shape"),
    [
        ({"anyOf": [{"type": "null"}, {"type": "integer", "minimum": 1}]}, "integer, ≥ 1 | null", ""),
        (
            {"type": "array", "items": {"$ref": "#/components/schemas/Paged_TaskOut_"}},
            "[Paged[TaskOut]]",
            "Paged[TaskOut]",
        ),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "{name: integer}", ""),
        ({"enum": ["a", None]}, '"a" | null', ""),
        ({"type": "string", "format": "date-time"}, "time", ""),
        ({}, "any", ""),
    ],
)
def test_a_type_in_words(schema, words, shape):
    assert kind(schema) == Kind(words, shape)


def test_an_example_is_a_command_that_a_shell_takes_apart_as_meant():
    import shlex

    example = {"path": {"id": "a/b"}, "query": {"q": "it's & more"}, "body": {"note": "'; rm -rf /"}}
    parts = shlex.split(command("http://h", "/x/{id}", "patch", example).replace(" \\\n", " "))
    assert parts[:4] == ["curl", "http://h/x/a%2Fb?q=it%27s+%26+more", "-X", "PATCH"]
    assert parts[-1] == '{"note": "\'; rm -rf /"}'


def test_reference_takes_a_document_with_little_in_it():
    document = {"paths": {"/a": {"get": {"responses": {"204": {}}}}}}
    (call,) = reference(document, "http://h").groups["other"]
    assert (call.method, call.examples, [one.status for one in call.answers]) == ("GET", [], [204])


def test_every_text_of_the_document_is_in_the_catalogue():
    assert words.said(api.get_openapi_schema()) == words.TEXTS, "see dshweb.api.words how to renew the list"
