"""The REST API under `/api/`: OpenAPI at `/api/openapi.json`, for people at `/api/docs` (dshweb.api.docs)."""

from __future__ import annotations

from dshweb.api import compactions, errors, inspecting, logs, profiles, session_reading, sessions, signals, tasks
from dshweb.api.auth import AnyAuth
from dshweb.api.document import Api

api = Api(
    title="dshweb",
    version="1",
    description="Session logs of DeepSeek Harness, and audits of their compactions.",
    docs_url=None,
    auth=AnyAuth(),
    urls_namespace="api",
)
errors.install(api)
for module in (logs, tasks, sessions, session_reading, compactions, signals, profiles, inspecting):
    api.add_router("/v1", module.router)
