"""The sandbox's own certificate authority, and its certificate for the loopback names."""

from __future__ import annotations

import ipaddress
import ssl
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

YEAR: Final = timedelta(days=365)
SKEW: Final = timedelta(days=1)
NAMES: Final = ("localhost",)
ADDRESSES: Final = ("127.0.0.1", "::1")

Builder = x509.CertificateBuilder


def server_context(folder: Path, now: datetime) -> tuple[ssl.SSLContext, Path]:
    """Return a TLS context for a server, and the authority's file, which clients must trust.

    The folder keeps the authority. It is safe to trust, because it is constrained to the names of
    this machine.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    authority_file, key_file = folder / "ca.pem", folder / "ca-key.pem"
    if not (authority_file.exists() and key_file.exists()):
        authority, key = _authority(now)
        _write_secret(key_file, _pem(key))
        authority_file.write_bytes(authority.public_bytes(serialization.Encoding.PEM))
    authority = x509.load_pem_x509_certificate(authority_file.read_bytes())
    loaded = serialization.load_pem_private_key(key_file.read_bytes(), password=None)
    if not isinstance(loaded, ec.EllipticCurvePrivateKey):
        raise TypeError(f"{key_file} does not hold an elliptic curve key")
    certificate, own_key = _certificate(authority, loaded, now)
    file = folder / "server.pem"
    _write_secret(file, certificate.public_bytes(serialization.Encoding.PEM) + _pem(own_key))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context, authority_file


def _authority(now: datetime) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name("Kalypso sandbox")
    permitted: list[x509.GeneralName] = [x509.DNSName(name) for name in NAMES]
    permitted += [x509.IPAddress(ipaddress.ip_network(address)) for address in ADDRESSES]
    builder = (
        _begin(name, name, key.public_key(), now, 10 * YEAR)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(certificates=True), critical=True)
        .add_extension(x509.NameConstraints(permitted, None), critical=True)
    )
    return builder.sign(key, hashes.SHA256()), key


def _certificate(
    authority: x509.Certificate, authority_key: ec.EllipticCurvePrivateKey, now: datetime
) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    key = ec.generate_private_key(ec.SECP256R1())
    names: list[x509.GeneralName] = [x509.DNSName(name) for name in NAMES]
    names += [x509.IPAddress(ipaddress.ip_address(address)) for address in ADDRESSES]
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key())
    builder = (
        _begin(_name("localhost"), authority.subject, key.public_key(), now, YEAR)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(issuer, critical=False)
    )
    return builder.sign(authority_key, hashes.SHA256()), key


def _begin(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    now: datetime,
    lifetime: timedelta,
) -> Builder:
    return (
        Builder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - SKEW)
        .not_valid_after(now + lifetime)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _usage(*, certificates: bool) -> x509.KeyUsage:
    """Return the key usage of the authority (`certificates`) or of the server."""
    return x509.KeyUsage(
        digital_signature=not certificates,
        key_cert_sign=certificates,
        crl_sign=certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _write_secret(file: Path, content: bytes) -> None:
    """Write a file that only its owner can read, from its creation on."""
    file.unlink(missing_ok=True)
    file.touch(mode=0o600)
    file.write_bytes(content)
