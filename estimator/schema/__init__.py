"""Formats of user input: YAML documents, units, quantities, distributions and checked records."""
