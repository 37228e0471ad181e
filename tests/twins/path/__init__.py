"""The naive path: links in tandem, the engine that drives it, and random scenarios."""
