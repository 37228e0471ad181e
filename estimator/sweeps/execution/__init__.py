"""Execution of sweeps: chunks of cells on workers, forecasts, retries and reruns."""
