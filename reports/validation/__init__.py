"""Page of a validation against measurements."""
