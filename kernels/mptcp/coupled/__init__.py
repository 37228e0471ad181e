"""Coupled congestion controls of MPTCP: LIA, OLIA and BALIA, in whole numbers.

`control` has the functions of a congestion control of `linux`. Before an event of a subflow, `peers` stores
there what the control needs of the other subflows. `MptcpP.COUPLING` selects the algorithm.
"""
