from __future__ import annotations

import pytest

from dshweb.access.services import tokens
from dshweb.sessionlog.push.tests.logs import BYTES, FOLDER, NAME


@pytest.fixture
def log(tmp_path):
    path = tmp_path / FOLDER / NAME
    path.parent.mkdir()
    path.write_bytes(BYTES)
    return path


@pytest.fixture
def secret(transactional_db, people):
    """Bob's token."""
    _row, made = tokens.make(people.team, people.bob, "collector", ["ingest"])
    return made
