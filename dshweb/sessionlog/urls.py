from __future__ import annotations

from django.urls import path

from dshweb.sessionlog import views

urlpatterns = [
    path("sources/", views.sources, name="sources"),
    path("sources/<int:pk>/scan", views.scan, name="source-scan"),
]
