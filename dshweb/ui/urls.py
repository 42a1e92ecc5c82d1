from __future__ import annotations

from django.urls import path

from dshweb.ui import views

urlpatterns = [
    path("", views.home, name="home"),
    path("preferences/language", views.set_language, name="set-language"),
    path("preferences/theme", views.set_theme, name="set-theme"),
    path("preferences/", views.set_preferences, name="set-preferences"),
]
