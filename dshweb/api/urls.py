from __future__ import annotations

from django.urls import path

from dshweb.api import docs
from dshweb.api.main import api

urlpatterns = [path("api/docs", docs.docs, name="api-docs"), path("api/", api.urls)]
