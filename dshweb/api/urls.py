from __future__ import annotations

from django.urls import path

from dshweb.api.main import api

urlpatterns = [path("api/", api.urls)]
