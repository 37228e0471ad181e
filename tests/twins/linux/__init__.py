"""A slow, obvious twin of the TCP of today's Linux."""
