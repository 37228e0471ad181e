"""Congestion controls: growth and reduction of the window."""
