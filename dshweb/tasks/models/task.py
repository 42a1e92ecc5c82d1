"""One piece of long work, and the workers that do it."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from dshweb.access.scoping import TeamOwned


class State(models.TextChoices):
    QUEUED = "queued", _("queued")
    RUNNING = "running", _("running")
    DONE = "done", _("done")
    FAILED = "failed", _("failed")
    CANCELLED = "cancelled", _("cancelled")


OPEN = (State.QUEUED, State.RUNNING)


class Task(TeamOwned):
    """`kind` names the function that does it (see dshweb.tasks.registry), `payload` its arguments.

    `key` makes equal work one row while it is open: enqueueing it again finds the open row. `done`/`total` count
    `unit`s (bytes, logs, compactions); `total` is null while unknown. `lease_until` is moved on by each heartbeat; a
    running row whose lease is over belongs to nobody and is given out again. `holder` is the process that has the
    lease. `queued_at` is when it last began to wait. `again` is the payload of equal work asked for while this ran: it
    is enqueued anew when this ends. `rate` is units a second of late, measured at `sampled_at`. `history` lists attempts that
    did not end the task, oldest first: `{"startedAt", "endedAt", "why": "worker-died" | "given-back"}`.
    """

    kind = models.CharField(_("kind"), max_length=40)
    key = models.CharField(max_length=200, editable=False)
    label = models.CharField(_("what"), max_length=300, blank=True)
    payload = models.JSONField(default=dict, editable=False)
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.QUEUED)
    cancel_requested = models.BooleanField(_("cancel asked for"), default=False)
    done = models.BigIntegerField(_("done"), default=0)
    total = models.BigIntegerField(_("total"), null=True, blank=True)
    unit = models.CharField(_("unit"), max_length=16, blank=True)
    rate = models.FloatField(null=True, blank=True, editable=False)
    sampled_at = models.DateTimeField(null=True, blank=True, editable=False)
    attempts = models.PositiveIntegerField(_("attempts"), default=0)
    history = models.JSONField(default=list, blank=True, editable=False)
    error = models.TextField(_("error"), blank=True)
    result = models.JSONField(_("result"), null=True, blank=True)
    created_by = models.ForeignKey(
        "access.User", models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("created by")
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    queued_at = models.DateTimeField(default=timezone.now, editable=False)
    started_at = models.DateTimeField(_("started"), null=True, blank=True)
    finished_at = models.DateTimeField(_("finished"), null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True, editable=False)
    lease_id = models.UUIDField(null=True, blank=True, editable=False)
    holder = models.CharField(_("worker"), max_length=120, blank=True, editable=False)
    again = models.JSONField(null=True, blank=True, editable=False)

    class Meta(TeamOwned.Meta):
        verbose_name = _("task")
        verbose_name_plural = _("tasks")
        constraints = [
            models.UniqueConstraint(
                fields=["team", "kind", "key"],
                condition=Q(state__in=["queued", "running"]),
                name="one_open_task_per_key",
            ),
        ]
        indexes = [
            models.Index(fields=["team", "-id"], name="tasks_by_team"),
            models.Index(fields=["state", "id"], name="tasks_by_state"),
            models.Index(fields=["team", "kind", "key", "-id"], name="tasks_for_the_same_work"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.label or self.key}"


class Worker(models.Model):
    """A worker process that is (or was) alive; `seen_at` is its last heartbeat."""

    name = models.CharField(max_length=120, unique=True)
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    class Meta:
        verbose_name = _("worker")
        verbose_name_plural = _("workers")

    def __str__(self) -> str:
        return self.name
