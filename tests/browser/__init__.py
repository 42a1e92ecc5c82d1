"""The pages in a real browser. Each module here marks its tests with `pytestmark = IN_BROWSER`; the fixtures are in conftest."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.shots import CHROMIUM

IN_BROWSER = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not Path(CHROMIUM).exists(), reason=f"no browser at {CHROMIUM}"),
]
