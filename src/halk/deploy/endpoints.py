"""Where agents listen: ``host:port``, perhaps after ``tcp/`` or ``tls/``."""

from halk.deploy.keys import ConfigError, Keys
from halk.net.zenoh.endpoints import parsed


def endpoint(keys: Keys, key: str, text: str, scheme: str) -> str:
    """Return an endpoint with its scheme, which must be that of the network."""
    full = text if "/" in text else f"{scheme}/{text}"
    try:
        found = parsed(keys.label(key), full)
    except ValueError:
        keys.refuse(key, f"must be like 192.168.1.12:7447, got {text!r}")
    if found.protocol != scheme:
        why = "there are" if scheme == "tls" else "there are no"
        keys.refuse(key, f"must begin with {scheme}/, got {text!r}: {why} certificates")
    return full


def is_local(text: str) -> bool:
    """Return whether an endpoint can be reached on this machine only."""
    return parsed("endpoint", text).is_loopback


def address(keys: Keys, key: str, text: str, is_public: bool) -> tuple[str, int]:
    """Return host and port to listen on, of this machine unless that is wanted."""
    try:
        found = parsed(key, f"tcp/{text}")
    except ValueError as error:
        wrong = f"must be like 127.0.0.1:9464, got {text!r}"
        raise ConfigError(f"{keys.file}: {keys.label(key)} {wrong}") from error
    if not found.is_loopback and not is_public:
        keys.refuse(
            key,
            f"must be on this machine, such as 127.0.0.1:9464, got {text!r}; with "
            "public = true anybody who can reach it may read it",
        )
    return found.host.strip("[]"), found.port
