"""The admin of logs and audits: projections can be looked at and not edited; what a team edits makes versions."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from audit.models import Audit, PolicyVersion, Review, Signal, VocabularyTerm
from dshweb.sessionlog.models import Compaction, Frame, LogFile, MaskPattern, Message, Session, Source, SourceFile
from dshweb.tasks.models import Task
from dshweb.ui.tests.rows import make_audited
from dshweb.ui.tests.sample import fill

pytestmark = pytest.mark.django_db

READ_ONLY = [SourceFile, LogFile, Session, Message, Compaction, Frame, Audit, Signal, Review]
EDITABLE = [Source, MaskPattern, VocabularyTerm]


@pytest.fixture
def root(client, people):
    fill(people.team)
    log = LogFile.unscoped.first()
    Frame.unscoped.create(team=people.team, log=log, offset=0, length=9, kind="data", first_row=0, next_seq=0)
    judge(people, log.compactions.first())
    people.alice.is_staff = people.alice.is_superuser = True
    people.alice.save()
    client.force_login(people.alice)
    return client


def judge(people, row):
    Review.unscoped.create(team=people.team, compaction=row, key="k", verdict="confirmed", user=people.alice)


def address(model, name, *args):
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{name}", args=args)


@pytest.mark.parametrize("model", READ_ONLY, ids=lambda model: model.__name__)
def test_what_was_read_is_shown_and_cannot_be_edited(root, model):
    row = model.unscoped.first()
    assert row is not None
    assert root.get(address(model, "changelist")).status_code == 200
    assert root.get(address(model, "changelist") + "?q=x").status_code == 200
    shown = root.get(address(model, "change", row.pk))
    assert shown.status_code == 200
    assert b'name="_save"' not in shown.content
    assert root.post(address(model, "change", row.pk), {"text": "changed"}).status_code == 403
    assert root.get(address(model, "add")).status_code == 403
    assert root.post(address(model, "delete", row.pk), {"post": "yes"}).status_code == 403


@pytest.mark.parametrize("model", EDITABLE, ids=lambda model: model.__name__)
def test_what_a_team_edits_has_forms(root, model):
    assert root.get(address(model, "changelist")).status_code == 200
    assert root.get(address(model, "add")).status_code == 200


@pytest.mark.parametrize("model", READ_ONLY, ids=lambda model: model.__name__)
def test_admin_lists_ask_a_fixed_number_of_questions(root, people, model, django_assert_num_queries):
    url = address(model, "changelist")
    with CaptureQueriesContext(connection) as before:
        root.get(url)
    for number in range(5):
        row = make_audited(people.team, session_id=f"more-{number}")
        log = row.log
        judge(people, row)
        SourceFile.unscoped.create(team=people.team, location=f"/more/{number}", log=log)
        Frame.unscoped.create(team=people.team, log=log, offset=0, length=9, kind="data", first_row=0, next_seq=0)
    with django_assert_num_queries(len(before)):
        root.get(url)


def test_the_form_of_a_model_route_says_how_efforts_are_written(root):
    assert (
        "Empty: not known; []: the model takes none" in root.get("/admin/compaction/modelroute/add/").content.decode()
    )


def test_a_changed_vocabulary_is_a_new_policy_version_and_offers_a_re_audit(root, people):
    def post(url, **data):
        answer = root.post(url, data, follow=True)
        assert answer.status_code == 200
        return answer.content.decode()

    html = post(address(VocabularyTerm, "add"), team=people.team.pk, list="keep", term="force-push")
    assert "is in force" in html
    term = VocabularyTerm.unscoped.get()
    post(address(VocabularyTerm, "change", term.pk), team=people.team.pk, list="keep", term="never force-push")
    post(address(VocabularyTerm, "delete", term.pk), post="yes")
    versions = PolicyVersion.objects.for_team(people.team).order_by("version")
    assert [row.vocabulary["keep"] for row in versions] == [["force-push"], ["never force-push"], []]
    assert all(row.created_by == people.alice for row in versions)


def test_a_policy_is_added_and_never_changed(root, people):
    data = {
        "team": people.team.pk, "check_compliance": "on", "critical_number_count": 3, "max_facts_per_category": 200, "family_min": 4,
        "tool_only_max": 20, "note": "less noise",
    }  # fmt: skip
    root.post(address(PolicyVersion, "add"), data)
    root.post(address(PolicyVersion, "add"), data | {"critical_number_count": 2})
    rows = PolicyVersion.objects.for_team(people.team).order_by("version")
    assert [(row.version, row.critical_number_count, row.extended_classes) for row in rows] == [
        (1, 3, False),
        (2, 2, False),
    ]
    url = address(PolicyVersion, "change", rows[0].pk)
    assert root.get(url).status_code == 200
    assert root.post(url, data).status_code == 403
    assert root.post(address(PolicyVersion, "delete", rows[0].pk), {"post": "yes"}).status_code == 403


def test_re_audit_asks_once_for_each_log_with_a_summary(root, people):
    Task.unscoped.all().delete()
    audit = Audit.unscoped.first()
    root.post(address(Audit, "changelist"), {"action": "audit_again", "_selected_action": [audit.pk]})
    with_summary = set(Compaction.unscoped.filter(summary_seq__isnull=False).values_list("log", flat=True))
    assert {task.payload["log"] for task in Task.unscoped.filter(kind="audit")} == with_summary


def test_the_test_box_masks_with_the_teams_patterns_and_keeps_nothing(root, people):
    MaskPattern.unscoped.create(team=people.team, name="badge", expression="BADGE-[0-9]+")
    url = reverse("admin:sessionlog_maskpattern_try")
    html = root.post(url, {"team": people.team.pk, "sample": "my BADGE-4711 <b>and</b> more"}).content.decode()
    assert "my [redacted:badge] &lt;b&gt;and&lt;/b&gt; more" in html
    assert "4711 &lt;b&gt;and&lt;/b&gt; more" in html, "what was typed stays in the box"
    assert "<code>badge</code>: 1" in html


def test_the_test_box_is_for_those_who_may_see_the_patterns(client, people):
    people.bob.is_staff = True
    people.bob.save()
    client.force_login(people.bob)
    assert client.get(reverse("admin:sessionlog_maskpattern_try")).status_code == 403


def test_a_pattern_re2_refuses_is_an_error_in_the_form(root, people):
    data = {"team": people.team.pk, "name": "bad", "expression": "(?<=x)y", "enabled": "on"}
    assert root.post(address(MaskPattern, "add"), data).status_code == 200
    assert not MaskPattern.unscoped.exists()


def test_a_re_scan_is_asked_for_once_a_team(root, people):
    one = MaskPattern.unscoped.create(team=people.team, name="a", expression="aaa")
    two = MaskPattern.unscoped.create(team=people.team, name="b", expression="bbb")
    root.post(address(MaskPattern, "changelist"), {"action": "scan_again", "_selected_action": [one.pk, two.pk]})
    assert Task.unscoped.filter(kind="rescan", key="masking", team=people.team).count() == 1
