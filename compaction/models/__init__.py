"""Profiles with their settings as revisions, what engines hold of them, and what is known of model routes."""

from __future__ import annotations

from .facts import LogFacts
from .profile import EngineSnapshot, Profile, SettingsRevision
from .route import ModelRoute

__all__ = ["EngineSnapshot", "LogFacts", "ModelRoute", "Profile", "SettingsRevision"]
