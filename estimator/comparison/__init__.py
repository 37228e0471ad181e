"""Results side by side: what changed in the setting, and what of the results is more than noise."""
