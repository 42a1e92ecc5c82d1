from __future__ import annotations

from django.urls import path

from audit import original_views, review_views, views

urlpatterns = [
    path("compactions/<int:pk>/", views.compaction, name="compaction"),
    path("compactions/<int:pk>/originals", views.originals, name="originals"),
    path("compactions/<int:pk>/originals/<int:seq>", original_views.original, name="original"),
    path("compactions/<int:pk>/facts/<slug:key>", views.fact, name="fact"),
    path("compactions/<int:pk>/record.json", views.record, name="compaction-record"),
    path("compactions/<int:pk>/audit", views.audit_again, name="compaction-audit"),
    path("signals/", review_views.signals, name="signals"),
    path("signals/export.jsonl", review_views.signals_jsonl, name="signals-jsonl"),
    path("signals/export.csv", review_views.signals_csv, name="signals-csv"),
    path("signals/<int:pk>/review", review_views.signal_review, name="signal-review"),
]
