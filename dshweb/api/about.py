"""What a call says about itself in the OpenAPI document, beyond what its signature says: who may call it, and examples.

    @router.get("/tasks/{task_id}", response={200: TaskOut, **refused(404)},
                openapi_extra=about("read", "viewer", example("One task", path={"task_id": 1})))

`/api/docs` is made from it, and tests/test_api_schema.py runs every example of every call against a filled database: ids
in `path` are replaced there by ids of rows that exist, by the parameter's name.
"""

from __future__ import annotations

from typing import Any

from dshweb.api.errors import Problem

ROLES = ("viewer", "member", "admin", "reviewer")


def example(
    summary: str,
    *,
    path: dict[str, Any] | None = None,
    query: dict[str, Any] | None = None,
    headers: dict[str, str] | None = None,
    body: Any = None,
    raw: str | None = None,
    files: dict[str, str] | None = None,
    status: int = 200,
) -> dict[str, Any]:
    """One call that runs. `body` is sent as JSON, `raw` names a file sent as the body as it is, `files` maps fields of a
    multipart form to file names; `status` is what it answers."""
    parts = {"path": path, "query": query, "headers": headers, "body": body, "raw": raw, "files": files}
    return {"summary": summary, "status": status} | {name: part for name, part in parts.items() if part is not None}


def about(scope: str, role: str, *examples: dict[str, Any]) -> dict[str, Any]:
    """For `openapi_extra`. `scope`: what a token needs; `role`: the least a person must be in the team (`ROLES`)."""
    if role not in ROLES or not examples:
        raise ValueError(f"role {role!r}, {len(examples)} examples: a call names a role and shows at least one example")
    return {"x-scope": scope, "x-role": role, "x-examples": list(examples)}


def refused(*statuses: int) -> dict[int, Any]:
    """The error answers of a call, for `response`: those that every call can give, and `statuses`."""
    return dict.fromkeys(sorted({400, 401, 403, 422, 429, *statuses}), Problem)
