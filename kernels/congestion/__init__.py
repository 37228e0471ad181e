"""Congestion controls: how a window grows and by what it is reduced."""
