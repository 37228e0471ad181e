"""Foundations of all kernels: columns, random numbers, random loss, sums."""
