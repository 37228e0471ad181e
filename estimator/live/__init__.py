"""Interactive page for a scenario or a plan: `netcarlo live` (docs/live.md)."""
