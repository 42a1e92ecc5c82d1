"""Asking the fenced addresses in tests, by login and by token."""

from __future__ import annotations

from pathlib import Path

from django.test import Client

from dshweb.access.models import Scope, Team, User
from dshweb.access.services import tokens
from dshweb.sessionlog.models import Session, SourceFile
from dshweb.sessionlog.services.ingest import Import, ingest_file

INSPECT, MODELS = "/better-compact/api/inspect", "/better-compact/api/models"
MEMBERS = ("activeConfig", "requiresReload", "sessionId", "diagnostics", "engine", "budget", "preview", "lastCompaction",
           "handoffContinuation")  # fmt: skip
CORPUS = Path(__file__).parents[2] / "tests" / "data" / "corpus"


def bring_in(people, scenario: str) -> Session:
    """A recorded session, brought into `ours` by alice."""
    path = next((CORPUS / scenario).rglob("session*.jsonl*"))
    ingest_file(path, run=Import.by(people.team, people.alice, inline=True))
    return SourceFile.unscoped.get(location=str(path)).log.session


def stranger(**headers: str) -> Client:
    """Who names the host, as every browser does and Django's own client does not."""
    return Client(headers={"host": "testserver"} | headers)


def by_login(user: User | None) -> Client:
    client = stranger()
    if user is not None:
        client.force_login(user)
    return client


def by_token(user: User, team: Team, *scopes: str) -> Client:
    _row, secret = tokens.make(team, user, "t", scopes or (Scope.READ,))
    return stranger(Authorization=f"Bearer {secret}")
