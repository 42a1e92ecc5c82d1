from __future__ import annotations

from django.urls import path

from audit import views

urlpatterns = [
    path("compactions/<int:pk>/", views.compaction, name="compaction"),
    path("compactions/<int:pk>/record.json", views.record, name="compaction-record"),
    path("compactions/<int:pk>/audit", views.audit_again, name="compaction-audit"),
]
