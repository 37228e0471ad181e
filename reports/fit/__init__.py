"""Page and sentences of a fit to measured runs."""
