"""Django's admin, whose pages are loaded together with the addresses (`dshweb.urls`) instead of at every start.

Loading them takes a fifth of the start of a command that shows no page, such as `ingest`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.contrib.admin import autodiscover
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core import checks


class LateAdminConfig(SimpleAdminConfig):
    """In the place of "django.contrib.admin" in INSTALLED_APPS."""

    def ready(self) -> None:
        checks.register(check_dependencies, checks.Tags.admin)
        checks.register(_check, checks.Tags.admin)


def _check(app_configs: Sequence[AppConfig] | None, **more: Any) -> Any:
    """What Django checks of the admin, after the pages are there: checks run in any order."""
    autodiscover()
    return check_admin_app(app_configs, **more)
