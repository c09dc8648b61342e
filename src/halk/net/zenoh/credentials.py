"""Look at an agent's certificate before Zenoh does, which would say less about it."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from halk.net.identity import Identity
from halk.net.pem import cryptography
from halk.net.transport import TransportError

__all__ = ["check_identity"]


def check_identity(name: str, identity: Identity) -> None:
    """Refuse files by which neighbours would not know the agent.

    Raises
    ------
    TransportError
        If a file is missing or no PEM, if the certificate is of another name, expired,
        not from the authority, or if the key is that of another certificate.
    """
    x509 = cryptography("x509")
    form = cryptography("hazmat.primitives.serialization")
    authority = _loaded(identity.authority, x509.load_pem_x509_certificate)
    certificate = _loaded(identity.certificate, x509.load_pem_x509_certificate)
    key = _loaded(identity.key, lambda data: form.load_pem_private_key(data, None))
    path = identity.certificate
    found = _common_name(certificate)
    if found != name:
        _refuse(path, f"must have the common name {name!r}, got {found!r}")
    for file, content in ((path, certificate), (identity.authority, authority)):
        begin, end = content.not_valid_before_utc, content.not_valid_after_utc
        if not begin <= datetime.now(UTC) <= end:
            _refuse(file, f"is valid from {begin:%F} to {end:%F} only; make a new one")
    if certificate.public_key() != key.public_key():
        _refuse(identity.key, f"must be the key of {path}; make both again")
    try:
        certificate.verify_directly_issued_by(authority)
    except Exception as error:  # of half a dozen classes
        reason = str(error) or "the signature is another"
        _refuse(path, f"is not from the authority {identity.authority}: {reason}")


def _common_name(certificate: Any) -> str:
    oid = cryptography("x509").oid.NameOID.COMMON_NAME
    names = certificate.subject.get_attributes_for_oid(oid)
    return str(names[0].value) if len(names) == 1 else ""


def _loaded(path: Path, load: Any) -> Any:
    try:
        return load(Path(path).read_bytes())
    except OSError as error:
        _refuse(path, f"cannot be read: {error.strerror}")
    except (TypeError, ValueError) as error:
        _refuse(path, f"must be in PEM and without a password: {error}")


def _refuse(path: Path, what: str) -> Any:
    raise TransportError(f"{path} {what}") from None
