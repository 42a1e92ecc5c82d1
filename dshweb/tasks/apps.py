from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class TasksConfig(AppConfig):
    name = "dshweb.tasks"
    label = "tasks"
    verbose_name = _("Tasks")
