"""Mathematics that gives the same bits everywhere: statistics, distributions, formulae of the literature."""
