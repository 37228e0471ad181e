"""The TCP of today's Linux: a sender and a receiver that engines drive as they do the others."""
