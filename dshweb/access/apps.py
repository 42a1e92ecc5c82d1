from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AccessConfig(AppConfig):
    name = "dshweb.access"
    label = "access"
    verbose_name = _("Access")
