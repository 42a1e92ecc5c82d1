"""The team of accounts that have been in one team only. By itself, so that no table changes after its rows did."""

from django.db import migrations
from django.db.models import Count


def find_homes(apps, schema_editor):
    """Until now the admins of a person's only team could make login links; they still can."""
    User, Membership = apps.get_model("access", "User"), apps.get_model("access", "Membership")
    alone = Membership.objects.values("user").annotate(n=Count("id")).filter(n=1).values("user")
    for row in Membership.objects.filter(user__in=alone, user__is_superuser=False):
        User.objects.filter(pk=row.user_id).update(home=row.team_id)


class Migration(migrations.Migration):
    dependencies = [("access", "0003_accounts")]
    operations = [migrations.RunPython(find_homes, migrations.RunPython.noop)]
