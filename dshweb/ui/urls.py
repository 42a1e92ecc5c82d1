from __future__ import annotations

from django.urls import path

from dshweb.ui import views
from dshweb.ui.pages import sessions

urlpatterns = [
    path("", views.home, name="home"),
    path("preferences/language", views.set_language, name="set-language"),
    path("preferences/theme", views.set_theme, name="set-theme"),
    path("sessions/", sessions.listing, name="sessions"),
    path("sessions/<int:pk>/", sessions.session, name="session"),
    path("sessions/<int:pk>/messages/<int:message>/", sessions.message, name="message"),
]
