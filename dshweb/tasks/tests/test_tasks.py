"""A task row is done once, told truly, and never lost."""

from __future__ import annotations

import threading
from datetime import timedelta
from itertools import count

import pytest
from django.db import connection, transaction
from django.utils import timezone

from dshweb.access.models import Team
from dshweb.tasks import leases, listing, progress, registry, selectors, services
from dshweb.tasks.models import State, Task, Worker
from dshweb.tasks.progress import Cancelled, Progress
from dshweb.tasks.registry import task_kind

calls: list[dict] = []


@task_kind("test-note")
def note(progress: Progress, payload: dict) -> dict:
    calls.append(payload)
    progress.step(3, 3, "rows")
    return {"seen": payload.get("n")}


@task_kind("test-fail")
def fail(progress: Progress, payload: dict) -> None:
    calls.append(payload)
    progress.step(1, 2)
    if not payload.get("well"):
        raise ValueError("frame 7 at byte 4096 is damaged")


@pytest.fixture(autouse=True)
def _no_calls():
    calls.clear()


@pytest.fixture
def sent(monkeypatch):
    """What the queue was told. The broker is another machine's program, so standing in for it is fair."""
    ids: list[int] = []
    monkeypatch.setattr("dshweb.tasks.tasks.run_task.apply_async", lambda args, **_: ids.append(args[0]))
    return ids


@pytest.fixture
def main(transactional_db) -> Team:
    return Team.objects.get_or_create(slug="main", defaults={"name": "main"})[0]


def test_a_task_runs_once_and_keeps_its_result(main, sent):
    task = services.enqueue(main, "test-note", "k", {"n": 1}, "a label")
    assert sent == [task.pk]
    assert services.run(task.pk)
    assert not services.run(task.pk)
    task.refresh_from_db()
    assert (task.state, task.result, task.done, task.total, task.unit) == (State.DONE, {"seen": 1}, 3, 3, "rows")
    assert task.finished_at
    assert not task.lease_id
    assert not task.holder
    assert calls == [{"n": 1}]


def test_equal_work_is_one_row_while_it_is_open(main, sent):
    first = services.enqueue(main, "test-note", "k", {"n": 1})
    assert services.enqueue(main, "test-note", "k", {"n": 2}).pk == first.pk
    assert services.enqueue(main, "test-note", "other").pk != first.pk
    services.run(first.pk)
    assert services.enqueue(main, "test-note", "k").pk != first.pk


def test_the_message_is_sent_when_the_transaction_commits(main, sent):
    with transaction.atomic():
        services.enqueue(main, "test-note", "k")
        transaction.set_rollback(True)
    assert sent == []
    with transaction.atomic():
        task = services.enqueue(main, "test-note", "k")
        assert sent == []
    assert sent == [task.pk]


def test_a_queue_that_cannot_be_reached_leaves_the_row_queued(main, monkeypatch, caplog):
    def refuse(*_, **__):
        raise ConnectionError("nobody listens")

    monkeypatch.setattr("dshweb.tasks.tasks.run_task.apply_async", refuse)
    task = services.enqueue(main, "test-note", "k")
    task.refresh_from_db()
    assert task.state == State.QUEUED
    assert "nobody listens" in caplog.text


def test_a_double_message_runs_the_task_once(main, sent):
    """Two workers get the same message at the same time: real threads, real connections."""
    task = services.enqueue(main, "test-note", "k")
    barrier, answers = threading.Barrier(4), []

    def worker() -> None:
        barrier.wait()
        answers.append(services.run(task.pk))
        connection.close()

    threads = [threading.Thread(target=worker) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert sorted(answers) == [False, False, False, True]
    assert len(calls) == 1
    task.refresh_from_db()
    assert (task.state, task.attempts) == (State.DONE, 1)


def test_two_askers_at_once_get_one_row(main, sent):
    barrier, rows = threading.Barrier(4), []

    def ask() -> None:
        barrier.wait()
        rows.append(services.enqueue(main, "test-note", "k").pk)
        connection.close()

    threads = [threading.Thread(target=ask) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(set(rows)) == 1
    assert len(rows) == 4


def test_an_error_is_kept_with_its_class_and_a_retry_is_a_fresh_task(main, sent):
    task = services.enqueue(main, "test-fail", "k", {"n": 1})
    services.run(task.pk)
    task.refresh_from_db()
    assert task.state == State.FAILED
    assert task.error == "ValueError: frame 7 at byte 4096 is damaged"
    again = services.retry(task)
    assert again.pk != task.pk
    assert (again.state, again.payload) == (State.QUEUED, {"n": 1})
    assert services.retry(again).pk == again.pk


def test_the_same_work_after_a_failure_runs_again(main, sent):
    """Field report FR-104: a permanent key gave the old failure for ever."""
    services.enqueue(main, "test-fail", "k")
    services.drain(main)
    fresh = services.enqueue(main, "test-fail", "k", {"well": True})
    services.drain(main)
    fresh.refresh_from_db()
    assert fresh.state == State.DONE


def test_an_unknown_kind_fails_by_name(main, sent):
    task = services.enqueue(main, "no-such-kind", "k")
    services.run(task.pk)
    task.refresh_from_db()
    assert task.state == State.FAILED
    assert "no-such-kind" in task.error


def test_a_queued_task_is_cancelled_at_once(main, sent):
    task = services.enqueue(main, "test-note", "k")
    assert services.cancel(task)
    assert not services.run(task.pk)
    task.refresh_from_db()
    assert task.state == State.CANCELLED
    assert not services.cancel(task)


def test_a_running_task_is_cancelled_at_its_next_step(main, sent):
    @task_kind("test-cancel-me")
    def cancel_me(progress: Progress, payload: dict) -> None:
        clock = count(1 << 40)
        progress._clock = lambda: next(clock) * 10.0
        progress.step(1, 5)
        assert services.cancel(Task.unscoped.get(pk=progress.task_id))
        progress.step(2, 5)
        raise AssertionError("went on")

    task = services.enqueue(main, "test-cancel-me", "k")
    services.run(task.pk)
    task.refresh_from_db()
    assert (task.state, task.done) == (State.CANCELLED, 2)


def test_progress_is_written_at_most_once_a_second(main, sent, django_assert_num_queries):
    task = services.enqueue(main, "test-note", "k")
    lease = leases.take(task.pk)
    now = [100.0]
    steps = Progress(task, lease, clock=lambda: now[0])
    with django_assert_num_queries(2):  # the row and the question whether to stop
        for n in range(1000):
            steps.step(n, 1000)
    now[0] += 1.0
    with django_assert_num_queries(2):
        steps.step(1000)
    task.refresh_from_db()
    assert (task.done, task.total) == (1000, 1000)


def _expire(task: Task) -> None:
    Task.unscoped.filter(pk=task.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def test_work_whose_lease_is_over_is_given_out_again_and_the_late_worker_writes_nothing(main, sent):
    task = services.enqueue(main, "test-note", "k", {"n": 1})
    late = leases.take(task.pk)
    assert leases.take(task.pk) is None
    _expire(task)
    sent.clear()
    assert services.reclaim() == 1
    assert sent == [task.pk]
    services.run(task.pk)
    assert not leases.renew(task.pk, late, done=1)
    assert not leases.release(task.pk, late, state=State.FAILED)
    task.refresh_from_db()
    assert (task.state, task.attempts) == (State.DONE, 2)


def test_work_of_a_dead_process_need_not_wait_for_its_lease(main, sent):
    task = services.enqueue(main, "test-note", "k")
    leases.take(task.pk)
    assert services.reclaim() == 0
    host, pid, _ = leases.holder().split("/")
    Task.unscoped.filter(pk=task.pk).update(holder=f"{host}/{pid}/formerly")
    assert services.reclaim() == 1
    Task.unscoped.filter(pk=task.pk).update(state=State.RUNNING, holder="elsewhere/1/x")
    assert services.reclaim() == 0 or Task.unscoped.get(pk=task.pk).lease_until is None


def test_work_that_kills_its_worker_every_time_ends_as_failed(main, sent):
    task = services.enqueue(main, "test-note", "k")
    for _ in range(services.MAX_ATTEMPTS):
        assert leases.take(task.pk)
        _expire(task)
        services.reclaim()
    task.refresh_from_db()
    assert task.state == State.FAILED
    assert "WorkerDied: 5" in task.error
    assert len(listing.attempts_of(task)) == services.MAX_ATTEMPTS


def test_a_queued_row_without_a_message_is_found(main, monkeypatch):
    task = Task.unscoped.create(team=main, kind="test-note", key="k")
    ids = []
    monkeypatch.setattr("dshweb.tasks.tasks.run_task.apply_async", lambda args, **_: ids.append(args[0]))
    assert services.reclaim(older_than=60) == 0
    assert services.reclaim() == 1
    assert ids == [task.pk]


def test_what_is_asked_for_while_the_same_runs_is_done_once_more(main, sent):
    @task_kind("test-changes")
    def changes(progress: Progress, payload: dict) -> None:
        calls.append(payload)
        if payload["n"] < 3:
            services.enqueue(progress.team_id, "test-changes", "k", {"n": payload["n"] + 1})

    services.enqueue(main, "test-changes", "k", {"n": 1})
    assert services.drain() == 3
    assert calls == [{"n": 1}, {"n": 2}, {"n": 3}]


@pytest.fixture
def asked_after_cancelling(main, sent):
    """A task that is cancelled while it runs; the same work is asked for before and after that."""

    @task_kind("test-cancel-then-ask")
    def cancel_then_ask(progress: Progress, payload: dict) -> None:
        calls.append(payload)
        if payload["n"] > 1:
            return
        progress._clock = lambda: 1e12
        services.enqueue(progress.team_id, "test-cancel-then-ask", "k", {"n": 2})
        services.cancel(Task.unscoped.get(pk=progress.task_id))
        if payload["ask"]:
            services.enqueue(progress.team_id, "test-cancel-then-ask", "k", {"n": 3})
        progress.step(1)

    def run(*, ask: bool) -> Task:
        task = services.enqueue(main, "test-cancel-then-ask", "k", {"n": 1, "ask": ask})
        services.run(task.pk)
        return task

    return run


def test_what_is_asked_for_after_a_cancel_request_is_done(asked_after_cancelling, main):
    task = asked_after_cancelling(ask=True)
    services.drain(main)
    task.refresh_from_db()
    assert task.state == State.CANCELLED
    assert [payload["n"] for payload in calls] == [1, 3]


def test_what_was_asked_for_before_a_cancel_request_is_called_off_with_it(asked_after_cancelling, main):
    asked_after_cancelling(ask=False)
    assert services.drain(main) == 0


def test_a_cancelled_task_whose_worker_died_still_gives_way_to_what_was_asked_after(main, sent):
    task = services.enqueue(main, "test-note", "k", {"n": 1})
    leases.take(task.pk)
    services.cancel(task)
    services.enqueue(main, "test-note", "k", {"n": 2})
    _expire(task)
    services.reclaim()
    services.drain(main)
    assert calls == [{"n": 2}]


def test_a_worker_that_is_surely_gone_is_not_alive(main):
    """Its last sign of life is recent, and nobody will do what waits."""
    now = timezone.now()
    host, pid, _ = leases.holder().split("/")
    row = Worker.objects.create(name=f"{host}/{pid}/formerly", started_at=now, seen_at=now)
    assert not selectors.worker_alive()
    Worker.objects.filter(pk=row.pk).update(name="elsewhere/1/run")
    assert selectors.worker_alive()
    Worker.objects.update(seen_at=now - timedelta(minutes=1))
    assert not selectors.worker_alive()


def test_a_worker_that_lost_its_lease_is_not_busy_any_more(main, sent, monkeypatch):
    """It would never again look for lost work."""
    monkeypatch.setattr(leases, "_held", set())

    @task_kind("test-loses")
    def loses(progress: Progress, payload: dict) -> None:
        progress._clock = lambda: 1e12
        Task.unscoped.filter(pk=progress.task_id).update(lease_id=None)
        progress.step(1)

    assert services.run(services.enqueue(main, "test-loses", "k").pk)
    assert not leases.busy()


def test_a_process_that_ends_gives_its_task_back(main, sent):
    @task_kind("test-ending")
    def ending(progress_: Progress, payload: dict) -> None:
        progress.stopping.set()
        progress_.step(1)

    task = services.enqueue(main, "test-ending", "k")
    try:
        assert services.drain() == 1
    finally:
        progress.stopping.clear()
    task.refresh_from_db()
    assert (task.state, task.attempts, task.lease_id) == (State.QUEUED, 0, None)


def test_drain_does_one_team_only_when_asked(main, sent):
    other = Team.objects.create(slug="other", name="Other")
    services.enqueue(main, "test-note", "k", {"n": 1})
    waits = services.enqueue(other, "test-note", "k", {"n": 2})
    assert services.drain(main) == 1
    waits.refresh_from_db()
    assert waits.state == State.QUEUED


def test_two_functions_for_one_kind_are_refused():
    with pytest.raises(ValueError, match="test-note"):
        registry.task_kind("test-note")(fail)


def test_cancelled_is_not_mistaken_for_an_error_of_the_work():
    assert not issubclass(Cancelled, (ValueError, OSError))
