"""Every address of the product."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

import dshweb.pages.outcomes  # noqa: F401  says on the pages of tasks what came of them
from dshweb import health

admin.autodiscover()  # see dshweb.ui.late_admin

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("", include("dshweb.access.urls")),
    path("admin/", admin.site.urls),
    path("", include("dshweb.ui.urls")),
    path("", include("dshweb.pages.urls")),
    path("", include("dshweb.sessionlog.urls")),
    path("", include("dshweb.tasks.urls")),
    path("", include("audit.urls")),
    path("", include("compaction.urls")),
    path("", include("dshweb.api.urls")),
]
