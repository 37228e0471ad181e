"""SCTP of usrsctp over two emulated paths, in virtual time."""
