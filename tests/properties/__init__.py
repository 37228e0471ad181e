"""Properties that hold for every valid scenario, checked over random ones."""
