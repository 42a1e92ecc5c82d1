"""Verbs of access: tokens, login links, notes in the access log."""
