"""From a scenario to outcomes: its rows, its model, a launch, and traces."""
