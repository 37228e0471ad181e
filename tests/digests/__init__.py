"""Digests of netcarlo's answers, which detect unintended changes of numbers."""
