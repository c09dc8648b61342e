"""Where agents listen: ``host:port``, perhaps after ``tcp/`` or ``tls/``."""

import re

from halk.deploy.keys import Keys

_FORM = re.compile(
    r"(?:(?P<scheme>[a-z]+)/)?(?P<host>\[[0-9a-fA-F:.%]+\]|[^\s/:\[\]]+):(?P<port>\d+)"
)
_LOOPBACK = re.compile(r"localhost|127(\.\d+){3}|\[::1\]")


def endpoint(keys: Keys, key: str, text: str, scheme: str) -> str:
    """Return an endpoint with its scheme, which must be that of the network."""
    found = _FORM.fullmatch(text)
    if found is None or int(found["port"]) > 65535:
        keys.refuse(key, f"must be like 192.168.1.12:7447, got {text!r}")
    given = found["scheme"] or scheme
    if given != scheme:
        why = "there are" if scheme == "tls" else "there are no"
        keys.refuse(key, f"must begin with {scheme}/, got {text!r}: {why} certificates")
    return f"{scheme}/{found['host']}:{found['port']}"


def address(keys: Keys, key: str, text: str) -> tuple[str, int]:
    """Return host and port of an address to listen on."""
    found = _FORM.fullmatch(text)
    if found is None or found["scheme"] or int(found["port"]) > 65535:
        keys.refuse(key, f"must be like 127.0.0.1:9464, got {text!r}")
    return found["host"].strip("[]"), int(found["port"])


def is_loopback(text: str) -> bool:
    """Return whether an endpoint can be reached on this machine only."""
    found = _FORM.fullmatch(text)
    return found is not None and bool(_LOOPBACK.fullmatch(found["host"]))
