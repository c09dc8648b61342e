"""Addresses of agents, and which of them may go without encryption."""

from collections.abc import Iterable, Mapping, Sequence
from ipaddress import ip_address
from typing import NamedTuple

from halk._validation import require

__all__ = ["Endpoint", "checked", "parsed"]

_LARGEST_PORT = 65535


class Endpoint(NamedTuple):
    """Where an agent listens: ``tcp/host:port`` or ``tls/host:port``."""

    protocol: str
    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only programs of the same machine can connect."""
        try:
            return ip_address(self.host.strip("[]")).is_loopback
        except ValueError:
            return self.host == "localhost"


def parsed(where: str, text: str) -> Endpoint:
    """Return an endpoint from its text.

    Nothing may follow the port: what Zenoh reads there would override what is checked
    and set here.
    """
    rule = "be like tls/host:7447 or tcp/host:7447"
    require(isinstance(text, str), where, rule, text)
    protocol, slash, address = text.partition("/")
    host, colon, port = address.rpartition(":")
    is_bare = "".join(host.strip("[]").split(":")).replace(".", "").replace("-", "")
    is_host = is_bare.isalnum() and is_bare.isascii()
    is_named = protocol in ("tcp", "tls") and slash and colon and is_host
    require(bool(is_named) and port.isdecimal(), where, rule, text)
    is_bracketed = host.startswith("[") and host.endswith("]")
    is_open = ":" in host and not is_bracketed
    require(not is_open, where, "have IPv6 addresses in [brackets]", text)
    is_port = 0 < int(port) <= _LARGEST_PORT
    require(is_port, where, f"have a port of 1 to {_LARGEST_PORT}", text)
    return Endpoint(protocol, host, int(port))


def checked(
    listen: Sequence[str],
    neighbours: Mapping[str, Sequence[str]],
    has_identity: bool,
    allow_plain: bool,
) -> None:
    """Refuse endpoints that would send in plain text what should not be."""
    named = [("listen", text) for text in _listed("listen", listen)]
    for name, texts in neighbours.items():
        where = f"endpoint of {name}"
        named += [(where, text) for text in _listed(where, texts)]
    for where, text in named:
        endpoint = parsed(where, text)
        if has_identity:
            require(
                endpoint.protocol == "tls", where, "be tls/ with a certificate", text
            )
        elif endpoint.protocol == "tls":
            raise ValueError(
                f"{where} must come with a certificate to be tls/, got {text!r}"
            )
        elif not (endpoint.is_loopback or allow_plain):
            raise ValueError(
                f"{where} must be on this machine unless plain text is allowed, got "
                f"{text!r}. Without certificates everybody on the way can read and "
                "change what agents say, and speak in their names"
            )


def _listed(where: str, texts: Iterable[str]) -> list[str]:
    require(not isinstance(texts, str), where, "be a list of endpoints", texts)
    return list(texts)
