"""Many flows over shared links of any topology."""
