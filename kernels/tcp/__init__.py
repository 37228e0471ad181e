"""TCP: the sender, its schemes of loss recovery, and the receiver."""
