"""Slow and simple twin of the TCP of current Linux."""
