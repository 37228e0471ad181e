"""The page of a sweep."""
