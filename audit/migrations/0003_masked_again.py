"""Columns of what was masked and of what could not be judged; numbers of older rows counted in facts, not in rows."""

from __future__ import annotations

from django.db import migrations, models


def count_facts(apps, schema_editor):
    """`unverified` and `lost` counted the rows of a list; now they are facts of the axis, like their neighbours."""
    audits = apps.get_model("audit", "Audit").unscoped
    for audit in audits.order_by("pk").iterator(chunk_size=50):
        record = audit.record
        faith, cover = record.get("fidelity"), record.get("coverage")
        audits.filter(pk=audit.pk).update(
            unverified=None if faith is None else faith["asserted"] - faith["verified"],
            lost=None if cover is None else cover["keyFacts"] - cover["kept"],
            partial=bool(record.get("errors")) or faith is None or cover is None,
        )


class Migration(migrations.Migration):
    dependencies = [("audit", "0002_initial")]

    operations = [
        migrations.AddField(
            model_name="audit",
            name="masked",
            field=models.CharField(blank=True, editable=False, max_length=12, verbose_name="masked again by list"),
        ),
        migrations.AddField(
            model_name="audit",
            name="masking",
            field=models.CharField(blank=True, editable=False, max_length=12, verbose_name="masked by list"),
        ),
        migrations.AddField(
            model_name="audit",
            name="partial",
            field=models.BooleanField(default=False, verbose_name="not fully audited"),
        ),
        migrations.RunPython(count_facts, migrations.RunPython.noop),
    ]
