"""SCTP multi-homing against TCP when a link goes down."""
