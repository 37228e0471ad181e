"""BBR, version 3: bounds learnt from losses beside the model of bandwidth and round trip."""
