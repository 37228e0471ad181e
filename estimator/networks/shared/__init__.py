"""Networks of shared links of any topology with many flows."""
