"""A page that answers while one looks: `netcarlo live` (docs/live.md)."""
