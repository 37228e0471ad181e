"""Configuration files: studies with their published numbers, reference mappings, examples."""
