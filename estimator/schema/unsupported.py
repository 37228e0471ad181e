"""Names from the literature that netcarlo recognises but does not simulate, and the nearest alternative.

A guess by spelling would be wrong: DCTCP is not SCTP. Each entry says what is not simulated and, as `write`,
the fields of the nearest supported feature.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple


class Known(NamedTuple):
    """A recognised name that is not supported in this place."""

    what: str
    """Sentence that says why the name is not supported, or where it belongs."""
    write: Mapping[str, str]
    """Fields and values to write in place of the name, seen from the record in which the name was found."""

    @property
    def remedy(self) -> str:
        """Advice in words on the fields to write."""
        return "write " + ", ".join(f"{field}: {value}" for field, value in self.write.items())


def _linux(what: str, control: str) -> Known:
    return Known(what, {"protocol": "linux", "congestion_control": control})


_NOT_SIMULATED = "is not simulated"
_QUIC = Known("HTTP/3 and gQUIC are not simulated; QUIC without them is", {"protocol": "quic"})
_DELAY = Known(f"this control by delay {_NOT_SIMULATED}; Vegas is another one", {"protocol": "vegas"})
_LOSS = _linux(f"this congestion control {_NOT_SIMULATED}; CUBIC is the nearest", "cubic")
_BY_RATE = _linux(f"this control by rate {_NOT_SIMULATED}; BBR is the nearest", "bbr")
_SEVERAL = Known("MPTCP is a transport over several paths", {"protocol": "mptcp"})
_COUPLED = "LIA, OLIA and BALIA are congestion controls of MPTCP"
_SCALABLE = _linux("DCTCP, TCP Prague and L4S are not simulated", "cubic")
_DATAGRAMS = Known(f"this transport {_NOT_SIMULATED}; datagrams at a constant rate are", {"protocol": "udp"})

PROTOCOLS: dict[str, Known] = {
    **dict.fromkeys(("http3", "gquic", "h3"), _QUIC),
    **dict.fromkeys(("dctcp", "prague", "tcp_prague", "l4s", "d2tcp", "hpcc", "dcqcn"), _SCALABLE),
    **dict.fromkeys(("mpquic", "multipath"), _SEVERAL),
    **{
        name: Known(_COUPLED, {"protocol": "mptcp", "congestion_control": name})
        for name in ("lia", "olia", "balia")
    },
    "wvegas": Known(
        f"wVegas {_NOT_SIMULATED}; BALIA is another coupled control",
        {"protocol": "mptcp", "congestion_control": "balia"},
    ),
    **dict.fromkeys(("ledbat", "copa", "fast", "nv", "lola", "swift", "timely"), _DELAY),
    **dict.fromkeys(("pcc", "vivace", "allegro", "remy", "orca", "sprout"), _BY_RATE),
    **dict.fromkeys(("htcp", "hybla", "illinois", "highspeed", "hstcp", "scalable", "veno"), _LOSS),
    **dict.fromkeys(("yeah", "compound", "ctcp"), _LOSS),
    **dict.fromkeys(("dccp", "tfrc", "rtp", "webrtc", "gcc", "scream", "srt"), _DATAGRAMS),
    "bbr": _linux("BBR is a congestion control of linux", "bbr"),
    "bbr1": _linux("BBR is a congestion control of linux", "bbr"),
    "bbrv1": _linux("BBR is a congestion control of linux", "bbr"),
    "bbr2": _linux(f"BBRv2 {_NOT_SIMULATED}; BBRv3 is its successor", "bbr3"),
    "bbrv2": _linux(f"BBRv2 {_NOT_SIMULATED}; BBRv3 is its successor", "bbr3"),
    "bbr3": _linux("BBRv3 is a congestion control of linux", "bbr3"),
    "bbrv3": _linux("BBRv3 is a congestion control of linux", "bbr3"),
    "tcp": Known("TCP has several implementations; that of today's Linux is one", {"protocol": "linux"}),
}  # fmt: skip
"""Entries by the value of `protocol` or `congestion_control` that a user writes, in lower case."""

def _wifi(number: int, standard: str) -> Known:
    return Known(f"Wi-Fi {number} is {standard}", {"standard": standard})


STANDARDS: dict[str, Known] = {
    **dict.fromkeys(("802.11ah", "802.11ad", "802.11ay", "802.11p", "802.11bn", "wifi 8"),
                    Known(f"this standard {_NOT_SIMULATED}; 802.11ax is", {"standard": "802.11ax"})),
    "802.11": Known("802.11 has several physical layers; that of 2003 is one", {"standard": "802.11g"}),
    "wifi 4": _wifi(4, "802.11n"), "wifi 5": _wifi(5, "802.11ac"), "wifi 6": _wifi(6, "802.11ax"),
    "wifi 6e": _wifi(6, "802.11ax"), "wifi 7": _wifi(7, "802.11be"),
}  # fmt: skip
"""Entries by the value of `standard` (802.11) that a user writes."""


LINE_WORDS = {"latency": "delay", "bandwidth": "rate", "capacity": "rate", "bw": "rate"}
"""Other words for the fields of a line."""

LINK_LAYER: dict[str, str] = {
    **dict.fromkeys(
        ("framing", "encapsulation", "header", "headers"),
        "write overhead: ethernet, or the bytes that the link adds to each packet: overhead: 38 B",
    ),
    **dict.fromkeys(("cell", "linklayer", "atm"), "write cells: atm"),
    **dict.fromkeys(("tbf", "token_bucket", "htb"), "write shaper: {rate: 10 Mbit/s, burst: 32 kB}"),
    **dict.fromkeys(("correlation", "loss_corr"), "write loss_correlation: 25 %"),
    **dict.fromkeys(("limit", "buffer"), "write queue: 250 kB, or queue: 40 ms"),
}
"""Remedies for field names that hops and cables do not have."""


def known(name: object, among: Mapping[str, Known] = PROTOCOLS) -> Known | None:
    """Return the entry for a name; None if there is none."""
    written = re.sub("^wifi(?=[0-9])", "wifi ", str(name).strip().lower().replace("-", ""))
    return among.get(written)
