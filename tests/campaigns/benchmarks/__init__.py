"""Measurements of speed; they never gate on absolute time."""
