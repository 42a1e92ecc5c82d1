"""Time zone, the team that made an account, ending all logins; an index of the access log."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("access", "0002_team_main")]
    operations = [
        migrations.AddField("user", "time_zone", models.CharField(blank=True, max_length=64, verbose_name="time zone")),
        migrations.AddField("user", "logins_ended", models.PositiveIntegerField(default=0, editable=False)),
        migrations.AddField(
            "user",
            "home",
            models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="access.team",
                verbose_name="team of the account",
            ),
        ),
        migrations.AddIndex("accesslog", models.Index(fields=["team", "-id"], name="access_log_pages")),
    ]
