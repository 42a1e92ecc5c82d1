"""Indexes of the list of signals: order, then all it is filtered by; and one for its counts."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("audit", "0005_facts")]

    operations = [
        migrations.RemoveIndex(model_name="signal", name="signals_by_importance"),
        migrations.RemoveIndex(model_name="signal", name="signals_by_age"),
        migrations.AddIndex(
            model_name="signal",
            index=models.Index(fields=["team", "-importance", "-id", "review", "kind", "cls"], name="signals_in_order"),
        ),
        migrations.AddIndex(
            model_name="signal",
            index=models.Index(fields=["team", "-id", "review", "kind", "cls"], name="signals_newest_first"),
        ),
        migrations.AddIndex(
            model_name="signal",
            index=models.Index(fields=["team", "review", "kind", "cls", "audit"], name="signals_counted"),
        ),
    ]
