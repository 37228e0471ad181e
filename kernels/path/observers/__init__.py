"""Observers of the engines of paths, see `events`; `path.model` chooses them."""
