"""Admission of requests: the server answers only its own pages, under a name of this machine.

The Host header reveals a name of another site that resolves to this machine (DNS rebinding). Origin and
Sec-Fetch-Site reveal a page of another site that requests an address of this one, also by a plain GET of an
image.
"""

import ipaddress
import socket
from collections.abc import Mapping
from urllib.parse import urlsplit

MAX_BODY = 1 << 20
"""Maximum size of the body of a request [bytes]. Requests of the page itself have a few kilobytes."""


def host_of(text: str) -> str:
    """Return the host of `host:port` or `[address]:port` in lower case; empty if it has none."""
    try:
        return (urlsplit(f"//{text}").hostname or "").lower()
    except ValueError:
        return ""


def names_this_machine(host: str, bound: str) -> bool:
    """Return whether `host` may name a server that listens at the address `bound`.

    Localhost and loopback addresses are allowed at a loopback address. At any other address every IP address
    is allowed, because no IP address is the name of another site. The bound name and the name of this machine
    are allowed too.
    """
    loopback = _is_loopback(bound)
    try:
        return ipaddress.ip_address(host).is_loopback or not loopback
    except ValueError:
        pass
    return host == "localhost" or (
        not loopback and host in (bound.lower(), socket.gethostname().lower(), socket.getfqdn().lower())
    )


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def refusal(headers: Mapping[str, str], *, path: str, bound: str) -> str:
    """Return why a request is not answered; empty if it is."""
    host = headers.get("Host", "")
    if not names_this_machine(host_of(host), bound):
        return "the host name is not one of this machine; open the URL that netcarlo live prints"
    origin = headers.get("Origin", "")
    if origin and urlsplit(origin).netloc.lower() != host.lower():
        return "requests from pages of other sites are refused"
    site = headers.get("Sec-Fetch-Site", "none")
    followed = path == "/" and headers.get("Sec-Fetch-Mode") == "navigate"  # a link to the page itself
    if site not in ("none", "same-origin") and not followed:
        return "requests from pages of other sites are refused"
    return ""
