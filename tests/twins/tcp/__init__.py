"""The naive TCP: senders, their recovery and controls, and the receiver."""
