"""A sweep carried out: chunks of cells on workers, forecast, run, retried."""
