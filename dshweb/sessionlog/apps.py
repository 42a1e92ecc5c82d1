from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class SessionLogConfig(AppConfig):
    name = "dshweb.sessionlog"
    label = "sessionlog"
    verbose_name = _("Session logs")
