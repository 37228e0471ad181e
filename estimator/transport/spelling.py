"""Names of protocols and congestion controls as the literature spells them."""

from pathlib import Path

SPELLING = {
    "tahoe": "Tahoe", "reno": "Reno", "newreno": "NewReno", "sack": "SACK", "vegas": "Vegas", "bic": "BIC",
    "cubic": "CUBIC", "westwood": "Westwood", "linux": "Linux", "linux26": "Linux 2.6", "bbr": "BBR",
    "bbr3": "BBRv3", "probing": "TCP Probing", "new_probing": "TCP New Probing", "elfn": "TCP-ELFN",
    "eln": "TCP with ELN", "sctp": "SCTP", "mptcp": "MPTCP", "quic": "QUIC", "udp": "UDP", "fmipv6": "FMIPv6",
    "hmipv6": "HMIPv6", "mipv6": "MIPv6", "lia": "LIA", "olia": "OLIA", "balia": "BALIA",
}  # fmt: skip
"""Names of protocols in text by the names in scenarios, where the two differ."""


def spelt(name: str | Path) -> str:
    """Return the name of a protocol or congestion control in text; of a user's file, its name."""
    return SPELLING.get(str(name), Path(str(name)).name)
