"""Calibration: fit free parameters of a study to its published numbers, with intervals and
cross-validation."""
