"""Naive TCP: senders, loss recovery, congestion controls, and the receiver."""
