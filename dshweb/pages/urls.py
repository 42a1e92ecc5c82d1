from __future__ import annotations

from django.urls import path

from dshweb.pages import deleting, events, session, sessions, upload, what_if

urlpatterns = [
    path("sessions/", sessions.listing_page, name="sessions"),
    path("sessions/export.csv", sessions.export, name="sessions-export"),
    path("sessions/<int:pk>/", session.page, name="session"),
    path("sessions/<int:pk>/live", session.live, name="session-live"),
    path("sessions/<int:pk>/messages/<int:message>/", session.message, name="message"),
    path("sessions/<int:pk>/events/", events.listing, name="events"),
    path("sessions/<int:pk>/events/<int:seq>", events.event, name="event"),
    path("sessions/<int:pk>/events/<int:seq>/original", events.original, name="event-original"),
    path("sessions/<int:pk>/what-if/", what_if.page, name="what-if"),
    path("sessions/<int:pk>/delete", deleting.delete, name="session-delete"),
    path("sources/files/<int:pk>/again", deleting.again, name="file-again"),
    path("upload/", upload.upload, name="upload"),
    path("upload/results/", upload.results, name="upload-results"),
]
