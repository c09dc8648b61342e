"""Certificates and keys in PEM files, by the package cryptography."""

import os
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from importlib import import_module
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from halk._atomic import replacing
from halk._validation import require

__all__ = ["builder", "common_name", "cryptography", "hosts_of", "new_key", "signed"]

_SKEW = timedelta(days=1)
"""Certificates are valid from a little before, for agents whose clocks are behind."""

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


def new_key() -> Any:
    """Return a new private key."""
    curves = cryptography("hazmat.primitives.asymmetric.ec")
    return curves.generate_private_key(curves.SECP256R1())


def common_name(name: str) -> Any:
    """Return the name of a certificate that has nothing but a common name."""
    x509 = cryptography("x509")
    return x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, name)])


def builder(
    subject: Any, issuer: Any, public: Any, days: int, uses: Iterable[str]
) -> Any:
    """Return a certificate that is still to be signed."""
    x509, now = cryptography("x509"), datetime.now(UTC)
    try:
        end = now + timedelta(days=days)
    except OverflowError:
        raise ValueError(f"days must end before the year 9999, got {days}") from None
    usage = x509.KeyUsage(**{use: use in uses for use in _USES})
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(end)
        .add_extension(usage, critical=True)
    )


def hosts_of(hosts: Iterable[str]) -> Any:
    """Return the part of a certificate that lists names and addresses of hosts."""
    x509 = cryptography("x509")
    require(not isinstance(hosts, str), "hosts", "be a list of names", hosts)
    names = []
    for host in hosts:
        try:
            names.append(x509.IPAddress(ip_address(host)))
        except ValueError:
            is_plain = all(c.isalnum() or c in "-." for c in host) and host.isascii()
            require(is_plain and host != "", "hosts", "be names or addresses", host)
            names.append(x509.DNSName(host))
    require(len(names) > 0, "hosts", "be one name or address at least", hosts)
    return x509.SubjectAlternativeName(names)


def signed(
    unsigned: Any, signer: Any, secret: Any, certificate: Path, key: Path
) -> None:
    """Sign a certificate; write it and its secret key, which nobody else may read."""
    form = cryptography("hazmat.primitives.serialization")
    content = unsigned.sign(signer, cryptography("hazmat.primitives.hashes").SHA256())
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
