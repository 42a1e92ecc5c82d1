from __future__ import annotations

from django.urls import path

from dshweb.tasks import views

urlpatterns = [
    path("tasks/", views.tasks, name="tasks"),
    path("tasks/<int:pk>/", views.task, name="task"),
    path("tasks/<int:pk>/cancel", views.cancel, name="task-cancel"),
    path("tasks/<int:pk>/retry", views.retry, name="task-retry"),
]
