"""Stores: write, merge, query and export the results of a sweep."""
