"""Path twin: links in tandem, the event engine, and random scenarios."""
