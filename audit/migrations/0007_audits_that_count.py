"""An index that tells which records count without reading them."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("audit", "0006_signal_indexes")]

    operations = [
        migrations.AddIndex(
            model_name="audit",
            index=models.Index(fields=["team", "compaction", "engine", "config_fp"], name="audits_that_count"),
        ),
    ]
