"""What schemathesis makes up from the OpenAPI document never breaks the API and is answered as the document says."""

from __future__ import annotations

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, settings

from dshweb.wsgi import application
from tests.api_rows import bearer, filled

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

schema = schemathesis.openapi.from_wsgi("/api/openapi.json", application)
# who may call is walked in test_walk.py; a value that fits its type may still be none of ours (a cursor, a name)
NOT_ASKED = [schemathesis.checks.ignored_auth, schemathesis.checks.positive_data_acceptance]
BOUNDED = settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture
def token_of(people, data_dir):
    """Headers of a token of one of `people`. Calls share the connection of the test, so it is not closed after each."""
    filled(people, data_dir)
    made: dict[str, dict[str, str]] = {}
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield lambda who: made.setdefault(who, bearer(people.team, getattr(people, who)))
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.mark.parametrize("who", ["alice", "vera"])
@schema.parametrize()
@BOUNDED
def test_made_up_calls_are_answered_as_declared(case, token_of, who):
    """As admin and as viewer: never a 5xx, every status declared, every body of the declared shape."""
    case.call_and_validate(headers=token_of(who) | {"accept-encoding": "identity"}, excluded_checks=NOT_ASKED)
