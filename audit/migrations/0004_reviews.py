"""Verdicts of people on signals, and what holds them to a signal through re-audits."""

from __future__ import annotations

import hashlib
import json

import django.db.models.deletion
import django.db.models.manager
from django.conf import settings
from django.db import migrations, models

VERDICTS = [("open", "open"), ("confirmed", "confirmed"), ("dismissed", "dismissed")]


def identify(apps, schema_editor):
    """As audit.core.identity did when this migration was written."""
    signals = apps.get_model("audit", "Signal").unscoped
    rows = []
    for row in signals.order_by("pk").only("axis", "cls", "kind", "tier", "text", "canon", "weight").iterator(2000):
        parts = (row.axis, row.cls, row.kind, row.canon or row.text)
        row.key = hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()[:32]
        weight = max(0, min(999_999, round((row.weight or 0.0) * 1000)))
        row.importance = {"A": 2, "B": 1}.get(row.tier, 0) * 1_000_000 + weight
        rows.append(row)
        if len(rows) == 500:
            signals.bulk_update(rows, ["key", "importance"])
            rows = []
    signals.bulk_update(rows, ["key", "importance"])


class Migration(migrations.Migration):
    dependencies = [
        ("access", "0002_team_main"),
        ("audit", "0003_masked_again"),
        ("sessionlog", "0004_basis"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Review",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=32, verbose_name="signal")),
                ("verdict", models.CharField(choices=VERDICTS, max_length=10, verbose_name="verdict")),
                ("note", models.TextField(blank=True, max_length=2000, verbose_name="note")),
                ("at", models.DateTimeField(auto_now_add=True, verbose_name="time")),
                (
                    "compaction",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reviews",
                        to="sessionlog.compaction",
                        verbose_name="compaction",
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="access.team"),
                ),
                (
                    "token",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="access.apitoken",
                        verbose_name="token",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="user",
                    ),
                ),
            ],
            options={
                "verbose_name": "review",
                "verbose_name_plural": "reviews",
                "abstract": False,
                "base_manager_name": "unscoped",
                "default_manager_name": "unscoped",
            },
            managers=[("unscoped", django.db.models.manager.Manager())],
        ),
        migrations.AddIndex(
            model_name="review",
            index=models.Index(fields=["compaction", "key", "-id"], name="reviews_of_a_signal"),
        ),
        migrations.AddField(
            model_name="signal",
            name="importance",
            field=models.PositiveIntegerField(default=0, editable=False),
        ),
        migrations.AddField(
            model_name="signal",
            name="key",
            field=models.CharField(blank=True, editable=False, max_length=32),
        ),
        migrations.AddField(
            model_name="signal",
            name="review",
            field=models.CharField(
                choices=VERDICTS, default="open", editable=False, max_length=10, verbose_name="verdict"
            ),
        ),
        migrations.AddIndex(
            model_name="signal",
            index=models.Index(fields=["team", "-importance", "-id", "review", "kind"], name="signals_by_importance"),
        ),
        migrations.AddIndex(
            model_name="signal",
            index=models.Index(fields=["team", "-id", "review", "kind"], name="signals_by_age"),
        ),
        migrations.RunPython(identify, migrations.RunPython.noop),
    ]
