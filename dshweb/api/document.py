"""The OpenAPI document as it is served: examples in their standard places too, and both ways to say who calls."""

from __future__ import annotations

from typing import Any

from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema

from dshweb.api.reference import operations

SCHEMES = {
    "token": {"type": "http", "scheme": "bearer", "description": "`Authorization: Bearer dshw_…`"},
    "login": {
        "type": "apiKey",
        "in": "cookie",
        "name": "dshweb_session",
        "description": "a browser's login, with CSRF token",
    },
}


class Api(NinjaAPI):
    def get_openapi_schema(self, **kwargs: Any) -> OpenAPISchema:
        return complete(super().get_openapi_schema(**kwargs))


def complete(document: OpenAPISchema) -> OpenAPISchema:
    """Changes `document` in place: `x-examples` (dshweb.api.about) also as examples of parameters and bodies."""
    document.setdefault("components", {})["securitySchemes"] = SCHEMES
    for _path, _method, operation in operations(document):
        _examples(operation)
        operation["security"] = [{"token": []}, {"login": []}]
    return document


def _examples(operation: dict[str, Any]) -> None:
    shown = operation.get("x-examples", [])
    for parameter in operation.get("parameters", []):
        part = {"path": "path", "query": "query", "header": "headers"}.get(parameter["in"], "")
        values = [one[part][parameter["name"]] for one in shown if parameter["name"] in one.get(part, {})]
        if values:
            parameter["example"] = values[0]
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    bodies = {one["summary"]: {"value": one["body"]} for one in shown if "body" in one}
    if content and bodies:
        content["examples"] = bodies
