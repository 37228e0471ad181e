"""Observers of the 802.11 engine, see `events`; `wireless.model` chooses them."""
