"""Servers for the tests that need them: one of each a test process, a fresh database for each test."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from tests import servers

_number = itertools.count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[servers.Postgres]:
    """A PostgreSQL server; the test skips, saying why, where it is not installed."""
    try:
        with servers.postgres() as server:
            yield server
    except servers.Missing as reason:
        pytest.skip(str(reason))


@pytest.fixture
def postgres_url(postgres: servers.Postgres) -> Iterator[str]:
    """DATABASE_URL of an empty PostgreSQL database for this test alone."""
    name = f"test_{next(_number)}"
    yield postgres.create(name)
    postgres.drop(name)


@pytest.fixture(scope="session")
def _redis() -> Iterator[str]:
    try:
        with servers.redis() as url:
            yield url
    except servers.Missing as reason:
        pytest.skip(str(reason))


@pytest.fixture
def redis_url(_redis: str) -> str:
    """REDIS_URL of an emptied Redis; the test skips, saying why, where it is not installed."""
    import redis

    with redis.Redis.from_url(_redis) as client:
        client.flushall()
    return _redis
