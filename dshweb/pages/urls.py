from __future__ import annotations

from django.urls import path

from dshweb.pages import sessions

urlpatterns = [
    path("sessions/", sessions.listing, name="sessions"),
    path("sessions/<int:pk>/", sessions.session, name="session"),
    path("sessions/<int:pk>/messages/<int:message>/", sessions.message, name="message"),
]
