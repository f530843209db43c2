"""The key of a GitHub App, in the forms that GitHub and people write it."""

from __future__ import annotations

from functools import cache

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa


@cache
def key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def pem(form: str = "TraditionalOpenSSL") -> str:
    """Return the key in PEM, by default in the traditional form, as GitHub does."""
    encoded = key().private_bytes(
        serialization.Encoding.PEM,
        getattr(serialization.PrivateFormat, form),
        serialization.NoEncryption(),
    )
    return encoded.decode()
