"""The naive fluid models."""
