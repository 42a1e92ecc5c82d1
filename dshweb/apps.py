from __future__ import annotations

from django.apps import AppConfig


class WiringConfig(AppConfig):
    """Connects the apps once all of them are loaded; see dshweb.pipeline."""

    name = "dshweb"
    label = "dshweb"

    def ready(self) -> None:
        import dshweb.pipeline  # noqa: F401
