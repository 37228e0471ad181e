"""The page of an estimate."""
