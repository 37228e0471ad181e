"""Calibration: free parameters of a study fitted to its published numbers, and how far they are known."""
