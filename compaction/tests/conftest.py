from __future__ import annotations

import pytest

from compaction.tests.asking import bring_in
from dshweb.sessionlog.models import Session


@pytest.fixture
def session(people, data_dir) -> Session:
    """A session of `ours` that alice brought in."""
    return bring_in(people, "pressure-compaction")
