"""Every team has a default profile and the shipped model routes; teams made later get theirs in dshweb.pipeline."""

from django.db import migrations

PROVIDER = "deepseek-official"
KNOWN = {
    "context_window": 1_000_000,
    "default_max_tokens": 256_000,
    "efforts": ["off", "low", "high", "max"],
    "default_effort": "high",
}


def give(apps, schema_editor):
    Team = apps.get_model("access", "Team")
    Profile, ModelRoute = apps.get_model("compaction", "Profile"), apps.get_model("compaction", "ModelRoute")
    for team in Team.objects.all():
        Profile.unscoped.get_or_create(team=team, name="default", machine="", defaults={"is_default": True})
        for model, allowed in (("deepseek-flash", True), ("deepseek-v4-pro", True), ("", False)):
            ModelRoute.unscoped.get_or_create(
                team=team, provider=PROVIDER, model=model, defaults={**KNOWN, "allowed": allowed}
            )


class Migration(migrations.Migration):
    dependencies = [("compaction", "0001_initial")]
    operations = [migrations.RunPython(give, migrations.RunPython.noop)]
