"""What the pages of tasks say: measured speed, attempts that came to nothing, filters in the address, what came of it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from dshweb.access.models import Visibility
from dshweb.tasks import leases, listing, services
from dshweb.tasks.listing import Filters, progress
from dshweb.tasks.models import State, Task, Worker
from dshweb.tasks.progress import Speed, stopping
from dshweb.tasks.registry import task_kind
from dshweb.ui.tests.rows import make_task

pytestmark = pytest.mark.django_db


def speed(*points: tuple[float, int]) -> Speed:
    found = Speed()
    for at, done in points:
        found.note(at, done, "logs")
    return found


def test_speed_is_what_was_really_done_and_unknown_before():
    assert speed((0, 0)).rate is None
    assert speed((0, 0), (5, 0)).rate is None
    assert speed((0, 0), (2, 10)).rate == 5
    assert speed((0, 100), (2, 110)).rate == 5, "what was done before the first look is not this run's speed"


def test_speed_follows_a_change_smoothly():
    steady = [(n, n * 10) for n in range(30)]
    slower = [(30 + n, 300 + n) for n in range(60)]
    fast, just, after = speed(*steady), speed(*steady, *slower[:3]), speed(*steady, *slower)
    assert fast.rate == pytest.approx(10)
    assert 6 < just.rate < 10
    assert after.rate == pytest.approx(1, abs=0.1)


def test_a_slow_unit_is_measured_over_all_the_time_it_took():
    assert speed((0, 1), (10, 1), (20, 1), (30, 2)).rate == pytest.approx(1 / 30)


def test_the_next_log_goes_on_with_the_speed_and_another_unit_begins_anew():
    again = speed((0, 0), (1, 100), (2, 5))
    assert again.rate == 100
    again.note(3, 7, "compactions")
    assert again.rate is None


def test_a_task_that_stands_still_has_no_speed_and_no_time_left(people):
    from dshweb.access.callers import caller_for_user

    caller, now = caller_for_user(people.bob), timezone.now()
    task = make_task(people.team, state=State.RUNNING, done=10, total=30, rate=2.0, sampled_at=now, started_at=now)
    assert (progress(task, caller, now).rate, progress(task, caller, now).left) == (2.0, 10.0)
    later = progress(task, caller, now + timedelta(minutes=2))
    assert (later.rate, later.left) == (None, None)
    task.rate = 0.01  # a unit takes 100 s: silence that long is no standstill
    assert progress(task, caller, now + timedelta(minutes=2)).rate == 0.01


@task_kind("test-given-back")
def given_back(progress, payload):
    stopping.set()
    progress.step(1, 2)


def test_attempts_that_came_to_nothing_are_remembered_and_shown(client, people):
    task = make_task(people.team, kind="test-given-back", key="h")
    try:
        assert services.run(task.pk)
    finally:
        stopping.clear()
    assert leases.take(task.pk)
    Task.unscoped.filter(pk=task.pk).update(
        holder=f"{leases.holder().split('/')[0]}/1/other", lease_until=timezone.now()
    )
    services.reclaim()
    task.refresh_from_db()
    assert [one["why"] for one in task.history] == ["given-back", "worker-died"]
    assert [one.how != "" for one in listing.attempts_of(task)] == [True, True], "each once, and none under way"
    assert task.attempts == 1, "what the worker's end took back is not held against the task"
    client.force_login(people.vera)
    page = client.get(f"/tasks/{task.pk}/").content.decode()
    assert "the worker ended without a word" in page
    assert "the worker was told to end" in page


def test_a_lease_that_ran_out_unseen_is_remembered_too(people):
    task = make_task(people.team, key="o")
    assert leases.take(task.pk)
    Task.unscoped.filter(pk=task.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert leases.take(task.pk)
    task.refresh_from_db()
    assert [one["why"] for one in task.history] == ["worker-died"]
    assert leases.take(task.pk) is None


def test_history_stays_bounded(people):
    task = make_task(people.team, history=[{"why": "worker-died"}] * 50)
    assert len(leases.tried(task, "given-back")) == leases.MAX_HISTORY
    assert leases.tried(task, "given-back")[-1]["why"] == "given-back"


def test_filters_stand_in_the_address_and_stay_from_page_to_page(client, people):
    client.force_login(people.vera)
    for n in range(listing.PAGE + 3):
        make_task(people.team, state=State.FAILED, error=f"E{n}", kind="ingest")
    make_task(people.team, kind="audit", label="other")
    page = client.get("/tasks/?state=failed&kind=ingest").content.decode()
    assert "other" not in page
    assert page.count('<li class="task') == listing.PAGE
    older = page.partition('rel="next" href="?')[2].partition('"')[0].replace("&amp;", "&")
    assert older.startswith("state=failed&kind=ingest&before=")
    assert client.get(f"/tasks/?{older}").content.decode().count('<li class="task') == 3
    assert client.get("/tasks/?state=nonsense").content.decode().count('<li class="task') == listing.PAGE


def test_open_means_waiting_or_running(client, people):
    for state in State:
        make_task(people.team, state=state, label=f"is-{state}")
    assert set(Task.unscoped.filter(Filters("open").q()).values_list("state", flat=True)) == {"queued", "running"}


def test_the_pages_say_when_nobody_works(client, people):
    client.force_login(people.vera)
    task = make_task(people.team)
    assert "No worker is there" in client.get("/tasks/").content.decode()
    assert "manage.py serve" in client.get(f"/tasks/{task.pk}/").content.decode()
    tag = client.get("/tasks/?part").headers["ETag"]
    Worker.objects.create(name="elsewhere/1/x", started_at=timezone.now(), seen_at=timezone.now())
    answer = client.get("/tasks/?part", headers={"if-none-match": tag})
    assert answer.status_code == 200, "the coming of a worker is a change"
    assert "A worker is there" in answer.content.decode()


def test_other_tasks_for_the_same_work_are_listed(client, people):
    failed = make_task(people.team, state=State.FAILED, error="OSError: gone", key="same")
    client.force_login(people.bob)
    fresh = client.post(f"/tasks/{failed.pk}/retry").url
    assert f'href="/tasks/{failed.pk}/"' in client.get(fresh).content.decode()
    assert "OSError: gone" in client.get(fresh).content.decode()


def test_where_only_owners_see_content_others_see_no_label_error_or_outcome(client, people):
    people.team.content_visibility = Visibility.OWNER
    people.team.save()
    task = make_task(
        people.team, kind="rescan", label="/srv/secret", state=State.DONE, result={"logs": 3}, created_by=people.alice
    )
    failed = make_task(people.team, label="/srv/secret", state=State.FAILED, error="OSError: /srv/secret")
    client.force_login(people.bob)
    pages = [client.get(url).content.decode() for url in ("/tasks/", f"/tasks/{task.pk}/", f"/tasks/{failed.pk}/")]
    assert not [page for page in pages if "/srv/secret" in page or "masked anew" in page]
    assert "OSError" in pages[0]
    client.force_login(people.alice)
    assert "3 logs masked anew" in client.get(f"/tasks/{task.pk}/").content.decode()


def test_a_known_failure_is_said_in_words_and_without_what_the_caller_may_not_see(people):
    from dshweb.access.callers import caller_for_user

    caller, now = caller_for_user(people.bob), timezone.now()
    task = make_task(people.team, state=State.FAILED, error="NotALog: notes.txt: no_header: no header")
    assert progress(task, caller, now).reason == "Nothing in it is a session log. (notes.txt: no_header: no header)"
    people.team.content_visibility = Visibility.OWNER
    assert progress(task, caller, now).reason == "Nothing in it is a session log."
    other = make_task(people.team, state=State.FAILED, error="ValueError: frame 7 is damaged", created_by=people.bob)
    assert progress(other, caller, now).reason == "ValueError: frame 7 is damaged"
