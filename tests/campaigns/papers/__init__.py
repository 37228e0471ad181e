"""Studies of published papers over many seeds."""
