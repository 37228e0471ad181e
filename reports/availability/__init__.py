"""Texts about availability."""
