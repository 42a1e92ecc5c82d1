"""Surface events of a log with their masked text: what people read, search and audit."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from dshweb.access.scoping import TeamOwned


class Message(TeamOwned):
    """One surface event.

    `author` is the event's `source.kind` as it stands (a wrapped plugin: its v4 name or `plugin:<name>`); `human` is true for
    kind `user` only. `digest` is taken before masking,
    `text` is masked and holds at most MAX_STORED_TEXT characters of the `chars` there are (the rest is read from the log).
    `position` is the number of the event's row in the log, which is unique where seqs are not. `parts` lists `[source, length]` for each
    block of the text, which are joined by blank lines.
    """

    log = models.ForeignKey("sessionlog.LogFile", models.CASCADE, related_name="messages", verbose_name=_("log"))
    position = models.BigIntegerField(_("position"))
    seq = models.BigIntegerField(_("seq"))
    type = models.CharField(_("type"), max_length=80)
    author = models.CharField(_("author"), max_length=120, blank=True)
    human = models.BooleanField(_("human"), default=False)
    turn = models.IntegerField(_("turn"), null=True, blank=True)
    step = models.IntegerField(_("step"), null=True, blank=True)
    at = models.DateTimeField(_("time"), null=True, blank=True)
    call_id = models.CharField(_("call id"), max_length=200, blank=True)
    tool = models.CharField(_("tool"), max_length=200, blank=True)
    is_error = models.BooleanField(_("error"), null=True)
    placeholder = models.BooleanField(_("placeholder result"), default=False)
    inherited = models.BooleanField(_("inherited from the parent"), default=False)
    opaque_blocks = models.PositiveIntegerField(_("images and files"), default=0)
    redactions = models.PositiveIntegerField(_("masked places"), default=0)
    chars = models.PositiveBigIntegerField(_("characters"), default=0)
    digest = models.CharField(_("digest"), max_length=80, blank=True)
    parts = models.JSONField(_("parts"), default=list)
    text = models.TextField(_("text"), blank=True)

    class Meta(TeamOwned.Meta):
        verbose_name = _("message")
        verbose_name_plural = _("messages")
        constraints = [models.UniqueConstraint(fields=["log", "position"], name="one_message_per_log_and_position")]
        indexes = [
            models.Index(fields=["log", "seq"], name="messages_by_seq"),
            models.Index(fields=["team", "digest"], name="human_messages_by_digest", condition=models.Q(human=True)),
            models.Index(fields=["log", "call_id"], name="results_by_call", condition=models.Q(type="tool/result")),
        ]

    def __str__(self) -> str:
        return f"{self.seq} {self.type}"
