"""Which requests the server answers: those of its own pages, by a name of this machine.

A name of another site that resolves to this machine (DNS rebinding) is refused by the Host header.  A page of
another site that asks for an address of this one is refused by Origin and Sec-Fetch-Site, also if its request
is a plain GET of an image.
"""

import ipaddress
import socket
from collections.abc import Mapping
from urllib.parse import urlsplit

LARGEST_BODY = 1 << 20
"""Bytes of a request's body; the page's own are a few kilobytes."""


def host_of(text: str) -> str:
    """Return the host of `host:port` or `[address]:port` in lower case; empty if it has none."""
    try:
        return (urlsplit(f"//{text}").hostname or "").lower()
    except ValueError:
        return ""


def names_this_machine(host: str, bound: str) -> bool:
    """Whether a page served at the address `bound` may be asked for by this host name.

    At a loopback address: localhost and loopback addresses.  At another one: also any IP address, which is no
    name of another site, the name that was bound, and the name of this machine.
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
        return "this page answers by the address that netcarlo live prints"
    origin = headers.get("Origin", "")
    if origin and urlsplit(origin).netloc.lower() != host.lower():
        return "pages of other sites are not answered"
    site = headers.get("Sec-Fetch-Site", "none")
    followed = path == "/" and headers.get("Sec-Fetch-Mode") == "navigate"  # a link to the page itself
    if site not in ("none", "same-origin") and not followed:
        return "pages of other sites are not answered"
    return ""
