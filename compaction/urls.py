from __future__ import annotations

from django.urls import path

from compaction.page import export_acts, history, profiles, sweeping, views

urlpatterns = [
    path("profiles/", profiles.profile_list, name="profiles"),
    path("profiles/new/", profiles.new, name="profile-new"),
    path("profiles/<int:pk>/edit/", profiles.edit, name="profile-edit"),
    path("profiles/<int:pk>/compaction/history/", history.page, name="profile-history"),
    path("profiles/<int:pk>/compaction/write/", export_acts.write, name="profile-write"),
    path("profiles/<int:pk>/compaction/read/", export_acts.read, name="profile-read"),
    path("profiles/<int:pk>/compaction/what-if", sweeping.what_if, name="profile-what-if"),
    path("sessions/<int:pk>/settings", views.of_session, name="session-settings"),
    path("profiles/<int:pk>/compaction/", views.page, name="profile-settings"),
]
