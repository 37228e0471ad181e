"""The QUIC stack ngtcp2 over an emulated link in virtual time, in the columns of the references."""
