from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class CompactionConfig(AppConfig):
    name = "compaction"
    verbose_name = _("Compaction")

    def ready(self) -> None:
        from compaction.services import facts, seen
        from dshweb.sessionlog.services import companions

        facts.install()
        companions.OPENERS.append(seen.opened)
