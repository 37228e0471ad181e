"""The results of a sweep on disk: written, merged, asked and exported."""
