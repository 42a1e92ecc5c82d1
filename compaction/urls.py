from __future__ import annotations

from django.urls import path

from compaction.page import views

urlpatterns = [
    path("profiles/<int:pk>/compaction/", views.page, name="profile-settings"),
]

# each of these adds its own line here: profiles, profile-new, profile-edit, profile-history, profile-write, profile-read (h),
# profile-what-if (w)
