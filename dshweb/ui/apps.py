from __future__ import annotations

import logging
from pathlib import Path

from django.apps import AppConfig
from django.conf import settings

log = logging.getLogger(__name__)


class UiConfig(AppConfig):
    name = "dshweb.ui"
    label = "ui"

    def ready(self) -> None:
        """Compiles the message catalogues that changed. Without a writable folder pages are in English, and work."""
        from dshweb.ui.catalogues import BadCatalogue, compile_all

        if settings.STATELESS:
            return
        source, target = (Path(path) for path in settings.LOCALE_PATHS)
        try:
            compile_all(source, target)
        except (OSError, BadCatalogue) as error:
            log.warning("message catalogues were not compiled, pages stay in English: %s", error)
