from __future__ import annotations

from django.urls import path

from dshweb.access import views

urlpatterns = [
    path("login/", views.Login.as_view(), name="login"),
    path("login/link/<str:secret>/", views.login_link, name="login-link"),
    path("logout/", views.Logout.as_view(), name="logout"),
    path("password/", views.Password.as_view(), name="password_change"),
]
