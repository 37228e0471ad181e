"""Mobile ad hoc networks with one flow."""
