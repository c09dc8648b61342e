"""The table ``[security]``, and that nobody leaves this machine without it."""

from __future__ import annotations

from collections.abc import Iterable

from halk.deploy.endpoints import is_local
from halk.deploy.keys import NEEDED, Keys
from halk.deploy.settings import Security


def read_security(keys: Keys) -> Security:
    """Return what a table ``[security]`` says."""
    plain = keys.flag("plain", False)
    words = ("certificate", "key", "authority")
    given = [word for word in words if word in keys]
    if plain and given:
        keys.refuse("plain", f"must not go with {given[0]}: it means no certificates")
    needed = NEEDED if given else None
    such = "what `halk certs` makes"
    found = {word: keys.path(word, needed, such) for word in words}
    for word, path in found.items():
        keys.must(path is None or path.is_file(), word, "be a file", str(path))
    keys.end()
    return Security(plain=plain, **found)


def refuse_open(keys: Keys, security: Security, ends: Iterable[str]) -> None:
    """Refuse to leave this machine without certificates, unless asked to."""
    if security.certificate is not None or security.plain:
        return
    for end in ends:
        if not is_local(end):
            keys.refuse(
                "security",
                f"must name certificate, key and authority, since {end} is not on this "
                "machine; `halk certs` makes them. With plain = true instead, anybody "
                "on the network can read, change and invent what agents say",
            )
