"""Certificates: who they are for, who vouches, and that none is lost."""

import stat
import sys
from datetime import UTC, datetime, timedelta

import pytest

x509 = pytest.importorskip("cryptography.x509", reason="needs cryptography")

from halk.net.certs import make_authority, make_certificate  # noqa: E402


@pytest.fixture
def folder(tmp_path):
    make_authority(tmp_path)
    return tmp_path


def _read(path):
    return x509.load_pem_x509_certificate(path.read_bytes())


def test_a_certificate_has_the_agents_name_and_hosts(folder):
    hosts = ["buoy.example", "192.0.2.7", "::1"]
    identity = make_certificate(folder, "buoy.ü-7", hosts, days=30)
    certificate, authority = _read(identity.certificate), _read(identity.authority)
    certificate.verify_directly_issued_by(authority)
    assert certificate.subject.rfc4514_string() == "CN=buoy.ü-7"
    found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    assert [str(name.value) for name in found.value] == hosts
    left = certificate.not_valid_after_utc - datetime.now(UTC)
    assert timedelta(days=29) < left < timedelta(days=31)
    is_authority = [
        c.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
        for c in (authority, certificate)
    ]
    assert is_authority == [True, False]


def test_keys_are_for_their_owner_alone(folder):
    make_certificate(folder, "a")
    (folder / "a.key").chmod(0o644)
    make_certificate(folder, "a", force=True)
    for name in ("a.key", "authority.key"):
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600


def test_nothing_is_replaced_unasked(folder):
    make_certificate(folder, "a")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(FileExistsError, match=r"authority\.pem exists"):
        make_authority(folder)
    with pytest.raises(FileExistsError, match=r"a\.pem exists"):
        make_certificate(folder, "a")
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    make_certificate(folder, "a", force=True)
    make_authority(folder, force=True)
    after = {path: path.read_bytes() for path in folder.iterdir()}
    assert set(after) == set(before)
    assert all(after[path] != before[path] for path in before)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "../a"}, "letters, digits"),
        ({"name": ""}, "letters, digits"),
        ({"name": "a b"}, "letters, digits"),
        ({"name": "n" * 65}, "64 bytes"),
        ({"name": "Authority"}, "another name"),
        ({"hosts": []}, "one name or address"),
        ({"hosts": "localhost"}, "list"),
        ({"hosts": ["tls/localhost:7447"]}, "names or addresses"),
        ({"hosts": ["bücher.example"]}, "names or addresses"),
        ({"days": 0}, "at least 1"),
        ({"days": 10**7}, "9999"),
    ],
)
def test_wrong_wishes_leave_no_files(folder, changes, message):
    before = sorted(folder.iterdir())
    with pytest.raises(ValueError, match=message):
        make_certificate(folder, **{"name": "a"} | changes)
    assert sorted(folder.iterdir()) == before


def test_there_is_no_certificate_without_an_authority(tmp_path):
    with pytest.raises(FileNotFoundError, match="make an authority first"):
        make_certificate(tmp_path / "none", "a")
    make_authority(tmp_path / "new")  # its folder is made
    (tmp_path / "new" / "authority.key").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="in PEM"):
        make_certificate(tmp_path / "new", "a")


def test_the_authoritys_two_files_belong_together(folder, tmp_path):
    make_authority(tmp_path / "other")
    key = (tmp_path / "other" / "authority.key").read_bytes()
    (folder / "authority.key").write_bytes(key)
    with pytest.raises(ValueError, match="must be the key of"):
        make_certificate(folder, "a")


def test_without_cryptography_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography.x509", None)
    with pytest.raises(ImportError, match=r"pip install 'halk\[net\]'"):
        make_authority(tmp_path)
    assert not list(tmp_path.iterdir())
