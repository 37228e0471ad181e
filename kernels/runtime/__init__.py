"""Compilation and launch of models; only this package imports Numba and CuPy."""
