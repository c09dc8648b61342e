"""Certificates for trying mutual TLS: an authority, and one certificate an agent.

The authority's key can vouch for anybody: it stays with who sets the network up, and
goes to no agent. Needs cryptography: ``pip install 'halk[net]'``.
"""

import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from importlib import import_module
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from halk._atomic import replacing
from halk._validation import integer, require
from halk.net.identity import Identity, checked_name

__all__ = ["make_authority", "make_certificate"]

AUTHORITY = "authority"
"""Name of the authority's files, which no agent may have."""

_SKEW = timedelta(days=1)
"""Certificates are valid from a little before, for agents whose clocks are behind."""


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
    x509 = _x509()
    days = integer("days", days, minimum=1)
    certificate, key = _paths(Path(folder), AUTHORITY, force)
    secret = _new_key()
    name = _common_name(f"halk {AUTHORITY}")
    uses = dict.fromkeys(_USES, False) | {"key_cert_sign": True, "crl_sign": True}
    builder = _builder(name, name, secret.public_key(), days)
    builder = builder.add_extension(x509.BasicConstraints(True, 0), critical=True)
    builder = builder.add_extension(x509.KeyUsage(**uses), critical=True)
    _write(certificate, key, builder.sign(secret, _sha256()), secret)
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
    x509, folder = _x509(), Path(folder)
    days, alternatives = integer("days", days, minimum=1), _alternatives(hosts)
    rule = "be another name, this is that of the authority's files"
    require(checked_name("name", name).lower() != AUTHORITY, "name", rule, name)
    authority, authority_key = _read_authority(folder)
    certificate, key = _paths(folder, name, force)
    secret = _new_key()
    uses = dict.fromkeys(_USES, False) | {"digital_signature": True}
    oid = x509.oid.ExtendedKeyUsageOID
    purposes = x509.ExtendedKeyUsage([oid.SERVER_AUTH, oid.CLIENT_AUTH])
    public = secret.public_key()
    builder = _builder(_common_name(name), authority.subject, public, days)
    builder = builder.add_extension(x509.BasicConstraints(False, None), critical=True)
    builder = builder.add_extension(x509.KeyUsage(**uses), critical=True)
    builder = builder.add_extension(purposes, critical=False)
    builder = builder.add_extension(alternatives, critical=False)
    _write(certificate, key, builder.sign(authority_key, _sha256()), secret)
    return Identity(certificate, key, folder / f"{AUTHORITY}.pem")


_USES = (
    "digital_signature", "content_commitment", "key_encipherment", "data_encipherment",
    "key_agreement", "key_cert_sign", "crl_sign", "encipher_only", "decipher_only",
)  # fmt: skip


def cryptography(module: str) -> Any:
    """Return a module of cryptography, or say how to get it."""
    try:
        return import_module(f"cryptography.{module}")
    except ImportError:
        message = "certificates need cryptography: pip install 'halk[net]'"
        raise ImportError(message) from None


def _x509() -> Any:
    return cryptography("x509")


def _sha256() -> Any:
    return cryptography("hazmat.primitives.hashes").SHA256()


def _new_key() -> Any:
    curves = cryptography("hazmat.primitives.asymmetric.ec")
    return curves.generate_private_key(curves.SECP256R1())


def _common_name(name: str) -> Any:
    x509 = _x509()
    return x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, name)])


def _builder(subject: Any, issuer: Any, public: Any, days: int) -> Any:
    x509, now = _x509(), datetime.now(UTC)
    try:
        end = now + timedelta(days=days)
    except OverflowError:
        raise ValueError(f"days must end before the year 9999, got {days}") from None
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(end)
    )


def _alternatives(hosts: Sequence[str]) -> Any:
    x509 = _x509()
    require(not isinstance(hosts, str), "hosts", "be a list of names", hosts)
    require(len(hosts) > 0, "hosts", "be one name or address at least", hosts)
    names = []
    for host in hosts:
        try:
            names.append(x509.IPAddress(ip_address(host)))
            continue
        except ValueError:
            is_plain = all(c.isalnum() or c in "-." for c in host) and host.isascii()
            require(is_plain and host != "", "hosts", "be names or addresses", host)
        names.append(x509.DNSName(host))
    return x509.SubjectAlternativeName(names)


def _paths(folder: Path, name: str, force: bool) -> tuple[Path, Path]:
    """Return where certificate and key go, if they may."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / f"{name}.pem", folder / f"{name}.key"
    for path in paths:
        if os.path.lexists(path) and not force:
            raise FileExistsError(f"{path} exists; replace it with force, or remove it")
    return paths


def _write(certificate: Path, key: Path, content: Any, secret: Any) -> None:
    form = cryptography("hazmat.primitives.serialization")
    private = secret.private_bytes(
        form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption()
    )
    if key.exists():
        key.chmod(0o600)  # the new one has the mode of the old one
    with replacing(key) as file:
        os.chmod(file.name, 0o600)  # before there is anything to read
        file.write(private)
    with replacing(certificate) as file:
        file.write(content.public_bytes(form.Encoding.PEM))


def _read_authority(folder: Path) -> tuple[Any, Any]:
    """Return the authority's certificate and key."""
    form = cryptography("hazmat.primitives.serialization")
    paths = folder / f"{AUTHORITY}.pem", folder / f"{AUTHORITY}.key"
    for path in paths:
        if not path.is_file():
            raise FileNotFoundError(f"{path} must exist; make an authority first")
    certificate, key = paths
    try:
        authority = _x509().load_pem_x509_certificate(certificate.read_bytes())
        secret = form.load_pem_private_key(key.read_bytes(), None)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{certificate} and {key.name} must be a certificate and a key in PEM: "
            f"{error}"
        ) from None
    is_pair = authority.public_key() == secret.public_key()
    require(is_pair, str(key), f"be the key of {certificate}", "another")
    return authority, secret
