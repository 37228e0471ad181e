"""A path of hops, with outages, or to a mobile host."""
