"""Twin of TCP: senders, loss recovery, congestion controls, and the receiver."""
