"""Compiles models and launches them; only this package knows Numba and CuPy."""
