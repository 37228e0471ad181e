"""What the results of a sweep say over its networks: shares and sensitivity."""
