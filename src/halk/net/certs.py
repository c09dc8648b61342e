"""Certificates for trying mutual TLS: an authority, and one certificate an agent.

The authority's key can vouch for anybody: it stays with who sets the network up, and
goes to no agent. Needs cryptography: ``pip install 'halk[net]'``.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from halk._validation import integer, require
from halk.net.identity import Identity, checked_name
from halk.net.pem import builder, common_name, cryptography, hosts_of, new_key, signed

__all__ = ["make_authority", "make_certificate"]

AUTHORITY = "authority"
"""Name of the authority's files, which no agent may have."""


def make_authority(folder: Path, days: int = 3650, force: bool = False) -> Path:
    """Write ``authority.pem`` and ``authority.key``; return the path of the former.

    Parameters
    ----------
    folder : Path
        Is made if it does not exist.
    days : int
        For how long the authority is valid.
    force : bool
        Replace an authority that is there. Certificates that it vouched for are then
        worth nothing.

    Raises
    ------
    FileExistsError
        If there is one and ``force`` is not given.
    """
    constraints = cryptography("x509").BasicConstraints(True, 0)
    days, secret = integer("days", days, minimum=1), new_key()
    name, uses = common_name(f"halk {AUTHORITY}"), ("key_cert_sign", "crl_sign")
    unsigned = builder(name, name, secret.public_key(), days, uses)
    unsigned = unsigned.add_extension(constraints, critical=True)
    certificate, key = _paths(Path(folder), AUTHORITY, force)
    signed(unsigned, secret, secret, certificate, key)
    return certificate


def make_certificate(
    folder: Path,
    name: str,
    hosts: Sequence[str] = ("localhost", "127.0.0.1"),
    days: int = 825,
    force: bool = False,
) -> Identity:
    """Write ``<name>.pem`` and ``<name>.key`` for an agent; return its identity.

    Parameters
    ----------
    folder : Path
        With the authority's two files.
    name : str
        Of the agent; the common name of the certificate.
    hosts : sequence of str
        Names and addresses under which neighbours connect to the agent.
    days : int
        For how long the certificate is valid.
    force : bool
        Replace files of this name.

    Raises
    ------
    FileExistsError
        If there are files of this name and ``force`` is not given.
    FileNotFoundError
        If there is no authority in the folder.
    """
    x509, folder = cryptography("x509"), Path(folder)
    rule = "be another name, this is that of the authority's files"
    require(checked_name("name", name).lower() != AUTHORITY, "name", rule, name)
    days, secret = integer("days", days, minimum=1), new_key()
    authority, signer = _read_authority(folder)
    subject, uses = common_name(name), ("digital_signature",)
    unsigned = builder(subject, authority.subject, secret.public_key(), days, uses)
    constraints = x509.BasicConstraints(False, None)
    purposes = x509.oid.ExtendedKeyUsageOID
    both = x509.ExtendedKeyUsage([purposes.SERVER_AUTH, purposes.CLIENT_AUTH])
    unsigned = unsigned.add_extension(constraints, critical=True)
    unsigned = unsigned.add_extension(both, critical=False)
    unsigned = unsigned.add_extension(hosts_of(hosts), critical=False)
    certificate, key = _paths(folder, name, force)
    signed(unsigned, signer, secret, certificate, key)
    return Identity(certificate, key, folder / f"{AUTHORITY}.pem")


def _paths(folder: Path, name: str, force: bool) -> tuple[Path, Path]:
    """Return where certificate and key go, if they may."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / f"{name}.pem", folder / f"{name}.key"
    for path in paths:
        if os.path.lexists(path) and not force:
            raise FileExistsError(f"{path} exists; replace it with force, or remove it")
    return paths


def _read_authority(folder: Path) -> tuple[Any, Any]:
    """Return the authority's certificate and key."""
    form = cryptography("hazmat.primitives.serialization")
    certificate, key = folder / f"{AUTHORITY}.pem", folder / f"{AUTHORITY}.key"
    for path in (certificate, key):
        if not path.is_file():
            raise FileNotFoundError(f"{path} must exist; make an authority first")
    try:
        load = cryptography("x509").load_pem_x509_certificate
        authority = load(certificate.read_bytes())
        secret = form.load_pem_private_key(key.read_bytes(), None)
    except (TypeError, ValueError) as error:
        what = f"{certificate} and {key.name} must be a certificate and a key in PEM"
        raise ValueError(f"{what}: {error}") from None
    is_pair = authority.public_key() == secret.public_key()
    require(is_pair, str(key), f"be the key of {certificate}", "another")
    return authority, secret
