"""One log's bytes, how far they were read, and the frame index."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from dshweb.access.scoping import TeamOwned


class LogStatus(models.TextChoices):
    OK = "ok", _("ok")
    DAMAGED = "damaged", _("damaged")
    UNSUPPORTED = "unsupported", _("format not supported yet")
    FAILED = "failed", _("failed")


class LogFile(TeamOwned):
    """`stored` names the bytes in the log storage; the first `size` of them are projected into rows.

    `revision` counts import steps; a step commits only if it finds the revision it started from (compare and set),
    so two importers of one log never mix. `state` is the reader's and the folds' state: numbers and ids, no text. `work` is
    what the log says of its session, masked (`services.sessions.work_of`); empty when nothing is read.
    """

    session = models.ForeignKey("sessionlog.Session", models.CASCADE, related_name="logs", verbose_name=_("session"))
    file_name = models.CharField(_("file name"), max_length=255)
    stored = models.CharField(max_length=300, unique=True, editable=False)
    compressed = models.BooleanField(_("compressed"), default=True)
    format = models.IntegerField(_("format"), null=True, blank=True)
    status = models.CharField(_("status"), max_length=12, choices=LogStatus, default=LogStatus.OK)
    size = models.BigIntegerField(_("bytes read"), default=0)
    revision = models.PositiveBigIntegerField(default=0, editable=False)
    complete = models.BooleanField(_("read to its end"), default=False)
    state = models.JSONField(null=True, blank=True, editable=False)
    work = models.JSONField(default=dict, editable=False)
    header = models.JSONField(_("header"), null=True, blank=True)
    accounting = models.JSONField(_("accounting"), default=dict)
    damage = models.JSONField(_("damage report"), default=list)
    last_seq = models.BigIntegerField(_("last seq"), null=True, blank=True)
    last_time = models.BigIntegerField(_("last event (epoch ms)"), null=True, blank=True)
    masking = models.CharField(_("masking patterns"), max_length=32, blank=True)
    read_at = models.DateTimeField(_("read"), null=True, blank=True)

    class Meta(TeamOwned.Meta):
        verbose_name = _("log")
        verbose_name_plural = _("logs")
        indexes = [models.Index(fields=["session", "file_name"], name="logs_of_a_session")]

    def __str__(self) -> str:
        return f"{self.session_id}/{self.file_name}"


class Frame(TeamOwned):
    """One frame of the index, as `core.index.FrameInfo`: enough to read its rows again without the rest of the log.

    Rows `first_row` … `first_row + rows - 1` end in it. Its first row begins `carry_skip` decoded bytes into the frame at
    `carry_offset` (null: in this frame). A `provisional` frame is the unfinished tail and is read again when the log has grown.
    """

    log = models.ForeignKey(LogFile, models.CASCADE, related_name="frames", verbose_name=_("log"))
    offset = models.BigIntegerField(_("offset"))
    length = models.BigIntegerField(_("length"))
    kind = models.CharField(_("kind"), max_length=12)
    first_seq = models.BigIntegerField(_("first seq"), null=True, blank=True)
    last_seq = models.BigIntegerField(_("last seq"), null=True, blank=True)
    rows = models.PositiveIntegerField(_("rows"), default=0)
    events = models.PositiveIntegerField(_("events"), default=0)
    decoded_bytes = models.BigIntegerField(_("decoded bytes"), default=0)
    first_row = models.BigIntegerField(_("first row"))
    next_seq = models.BigIntegerField(_("expected seq"))
    carry_offset = models.BigIntegerField(null=True, blank=True, editable=False)
    carry_skip = models.BigIntegerField(default=0, editable=False)
    has_header = models.BooleanField(default=False, editable=False)
    provisional = models.BooleanField(_("unfinished tail"), default=False)
    code = models.CharField(_("damage"), max_length=20, blank=True)

    class Meta(TeamOwned.Meta):
        verbose_name = _("frame")
        verbose_name_plural = _("frames")
        constraints = [models.UniqueConstraint(fields=["log", "offset", "kind"], name="one_frame_per_log_and_offset")]
        indexes = [models.Index(fields=["log", "first_seq"], name="frames_by_seq")]

    def __str__(self) -> str:
        return f"{self.offset}+{self.length}"
