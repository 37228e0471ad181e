"""Studies with their published numbers, reference mappings, examples."""
