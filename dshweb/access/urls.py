from __future__ import annotations

from django.urls import path
from django.views.generic import RedirectView

from dshweb.access import account, log_pages, team_pages, views

urlpatterns = [
    path("login/", views.Login.as_view(), name="login"),
    path("login/link/<str:secret>/", views.login_link, name="login-link"),
    path("logout/", views.Logout.as_view(), name="logout"),
    path("password/", views.Password.as_view(), name="password_change"),
    # the admin's own forms would let passwords be tried without limit
    path("admin/login/", views.admin_login, name="admin-login"),
    path("admin/password_change/", RedirectView.as_view(pattern_name="password_change"), name="admin-password"),
    path("account/", account.account, name="account"),
    path("account/sign-out", account.sign_out_everywhere, name="sign-out-everywhere"),
    path("account/tokens/", account.token_list, name="tokens"),
    path("account/tokens/<int:pk>/revoke", account.token_revoke, name="token-revoke"),
    path("teams/", team_pages.team_list, name="teams"),
    path("teams/new/", team_pages.team_new, name="team-new"),
    path("teams/<slug:slug>/", team_pages.team, name="team"),
    path("teams/<slug:slug>/settings", team_pages.team_settings, name="team-settings"),
    path("teams/<slug:slug>/leave", account.leave, name="team-leave"),
    path("teams/<slug:slug>/members/", team_pages.member_add, name="team-member-add"),
    path("teams/<slug:slug>/members/<int:pk>/", team_pages.member, name="team-member"),
    path("teams/<slug:slug>/members/<int:pk>/link", team_pages.member_link, name="team-member-link"),
    path("teams/<slug:slug>/members/<int:pk>/remove", team_pages.member_remove, name="team-member-remove"),
    path("teams/<slug:slug>/tokens/<int:pk>/revoke", team_pages.team_token_revoke, name="team-token-revoke"),
    path("teams/<slug:slug>/log/", log_pages.access_log, name="access-log"),
    path("teams/<slug:slug>/log.csv", log_pages.access_log_csv, name="access-log-csv"),
]
