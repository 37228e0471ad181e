"""TCP: the sender, its ways of loss recovery, and the receiver."""
