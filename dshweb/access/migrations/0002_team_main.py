"""Team `main` and its first admin exist after `migrate` alone; the admin has no password until it uses a login link."""

from django.contrib.auth.hashers import make_password
from django.db import migrations


def make_main(apps, schema_editor):
    Team, User = apps.get_model("access", "Team"), apps.get_model("access", "User")
    Membership = apps.get_model("access", "Membership")
    team, _ = Team.objects.get_or_create(slug="main", defaults={"name": "main"})
    if User.objects.exists():
        return
    user = User.objects.create(
        username="admin", is_staff=True, is_superuser=True, password=make_password(None), first_name="", last_name=""
    )
    Membership.objects.create(team=team, user=user, role="admin", can_review=True)


class Migration(migrations.Migration):
    dependencies = [("access", "0001_initial")]
    operations = [migrations.RunPython(make_main, migrations.RunPython.noop)]
