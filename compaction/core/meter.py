"""The fold behind `measure`: surface with prices, header in force, anchor at the last answer, newest usage sample.

Rule: COMPACTION §4 and §5. What would make the harness's own measurement fail makes ours unavailable, for good: an
answer outside its step, a replacement of nodes that are not there, a block without a price, rows that are lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from dshweb.sessionlog.core.body import as_int
from dshweb.sessionlog.core.events import Event

from .carrier import members
from .estimate import Unpriced
from .header_key import RequestHeader, read_header
from .measure import Anchor, Measure, Occupancy, measure, unavailable, usage_prompt, usage_total
from .stream import Stream, read_stream
from .surface_price import Node, PricedSurface

WRAPPED_UNTIL: Final = 3
"""Last format version that wraps a tool's result in a block of its own."""


class Meter:
    """Feed it surface events, headers and step borders. `version` is the log's format version, None when unknown.

    `window` is the context window that the log states, `header` the latest request header. `repaired`: a row whose JSON is
    measured held text that the reader had to repair (a lone surrogate is six units there, its stand-in one).
    """

    def __init__(self) -> None:
        self.surface = PricedSurface()
        self.header: RequestHeader | None = None
        self.window: int | None = None
        self.version: int | None = None
        self.failed: str | None = None
        self.repaired = False
        self._anchor: Anchor | None = None
        self._step: tuple[int | None, int | None] | None = None
        self._sample: tuple[int, int | None] | None = None

    # ---- questions

    def measure(self) -> Measure:
        """Tokens of the context now."""
        if self.failed:
            return unavailable(self.failed)
        return measure(self.surface, self.header, self._anchor, repaired=self.repaired)

    @property
    def occupancy(self) -> Occupancy:
        """The harness's `contextPressure` numbers."""
        pressure, sampled = self._sample or (None, None)
        return Occupancy(self.surface.tokens, pressure, sampled, self.window)

    @property
    def tools_tokens(self) -> int | None:
        """Price of the tool declarations in force, None before the first request."""
        return None if self.header is None else self.header.tools_tokens

    @property
    def system_tokens(self) -> int | None:
        """Price of the system prompt in front of the surface, or in the header (v0 to v2); None when there is none."""
        head = self.surface.head
        if head is not None:
            return head.tokens
        return self.header.system_tokens if self.header is not None and self.header.system_tokens else None

    @property
    def fixed_tokens(self) -> int | None:
        """`fixedTokens` of the budget: tools and system prompt, which no compaction takes away.

        None before the first request, or when the system prompt has no price.
        """
        if self.header is None:
            return None
        head = self.surface.head
        price = 0 if head is None else head.tokens
        return None if price is None else self.header.prefix_tokens + price

    # ---- folding

    def fail(self, reason: str) -> None:
        """From here on there is no measurement; the first reason stays."""
        self.failed = self.failed or reason

    def open_step(self, event: Event) -> None:
        """A `step/start` row."""
        self._step = as_int(event.body.get("turn")), as_int(event.body.get("step"))

    def close_step(self) -> None:
        """A step or its turn ended, or a new turn began."""
        self._step = None

    def request_header(self, event: Event) -> None:
        """A `request/header` row."""
        header = read_header(event.seq, event.raw, self.header)
        if header is None:
            self.fail(f"{event.seq}: a request header that cannot be read")
        self.repaired = self.repaired or event.repaired
        self.header = header or self.header

    def request_context(self, event: Event) -> None:
        """A `request/context` row."""
        window = as_int(event.body.get("contextWindow"))
        self.window = self.window if window is None else window

    def message(self, event: Event) -> dict[str, Any]:
        """A system, developer or user message, or a tool result; its decoded members."""
        body = members(event)
        self._apply(event, body)
        return body

    def assistant(self, event: Event) -> None:
        """An `assistant/message` row: the new anchor, on the surface in front of it."""
        body = members(event)
        stated = (as_int(body.get("turn")), as_int(body.get("step")))
        if self._step is None or (stated != self._step and None not in (*stated, *self._step)):
            self.fail(f"{event.seq}: assistant/message outside its own step")
        before, usage = self.surface.tokens, body.get("usage")
        node = self._apply(event, body)
        self._take_sample(usage, before)
        if node is None or node.tokens is None or before is None:
            self._anchor = None
            return
        price = node.tokens
        if isinstance(usage, dict):
            stream = self._stream(event, body)
            price = price if stream is None else stream.tokens
        counted = usage_total(usage) if self.header is not None else None
        self._anchor = Anchor(None if self.header is None else self.header.key, before, price, counted)

    def attempt(self, event: Event) -> None:
        """An `assistant/attempt` row: it gives a usage sample and leaves the anchor alone."""
        stream = self._stream(event, members(event))
        self._take_sample(None if stream is None else stream.usage, self.surface.tokens)

    def _apply(self, event: Event, body: Mapping[str, Any]) -> Node | None:
        node = self.surface.apply(event, body, wrapped=self._wrapped)
        if event.repaired and node is not None and not node.plain:
            self.repaired = True
        return node

    def _take_sample(self, usage: Any, surface: int | None) -> None:
        prompt = usage_prompt(usage)
        if prompt is not None:
            self._sample = prompt, surface

    def _stream(self, event: Event, body: Mapping[str, Any]) -> Stream | None:
        try:
            return read_stream(body.get("stream"))
        except (Unpriced, TypeError) as error:
            self.fail(f"{event.seq}: {error}")
            return None

    @property
    def _wrapped(self) -> bool:
        return self.version is not None and self.version <= WRAPPED_UNTIL

    # ---- state

    def to_json(self) -> dict[str, Any]:
        """State: seqs, numbers, digests, and the names of the route."""
        return {
            "version": self.version,
            "surface": self.surface.to_json(),
            "header": None if self.header is None else asdict(self.header),
            "window": self.window,
            "failed": self.failed,
            "repaired": self.repaired,
            "anchor": None if self._anchor is None else asdict(self._anchor),
            "step": None if self._step is None else list(self._step),
            "sample": None if self._sample is None else list(self._sample),
        }

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> Meter:
        """Inverse of `to_json`. Raises KeyError, TypeError or ValueError for a state of another shape."""
        meter = cls()
        meter.version, meter.window, meter.failed = state["version"], state["window"], state["failed"]
        meter.repaired = state["repaired"]
        meter.surface = PricedSurface.from_json(state["surface"])
        meter.header = None if state["header"] is None else RequestHeader(**state["header"])
        meter._anchor = None if state["anchor"] is None else Anchor(**state["anchor"])
        meter._step = None if state["step"] is None else (state["step"][0], state["step"][1])
        meter._sample = None if state["sample"] is None else (state["sample"][0], state["sample"][1])
        return meter
