"""Observers of the engine of ad hoc networks, see `events`; `adhoc.model` chooses them."""
