"""Cryptographic functions with reproducible results: checksums, passwords, decryption."""

from __future__ import annotations

import hashlib
import hmac
import zlib

from kalypso_go.gotemplate.budget import Budget
from kalypso_go.gotemplate.sprig.encoding import CorruptInputError, decode_base64
from kalypso_go.gotemplate.sprig.signature import function
from kalypso_go.gotemplate.text import from_bytes, to_bytes
from kalypso_go.gotemplate.values import STRING, UINT32, FunctionError

_SEED = b"com.lyndir.masterpassword"

_TEMPLATES = {
    "maximum": ("anoxxxxxxxxxxxxxxxxx", "axxxxxxxxxxxxxxxxxno"),
    "long": (
        *("CvcvnoCvcvCvcv", "CvcvCvcvnoCvcv", "CvcvCvcvCvcvno", "CvccnoCvcvCvcv"),
        *("CvccCvcvnoCvcv", "CvccCvcvCvcvno", "CvcvnoCvccCvcv", "CvcvCvccnoCvcv"),
        *("CvcvCvccCvcvno", "CvcvnoCvcvCvcc", "CvcvCvcvnoCvcc", "CvcvCvcvCvccno"),
        *("CvccnoCvccCvcv", "CvccCvccnoCvcv", "CvccCvccCvcvno", "CvcvnoCvccCvcc"),
        *("CvcvCvccnoCvcc", "CvcvCvccCvccno", "CvccnoCvcvCvcc", "CvccCvcvnoCvcc"),
        "CvccCvcvCvccno",
    ),
    "medium": ("CvcnoCvc", "CvcCvcno"),
    "short": ("Cvcn",),
    "basic": ("aaanaaan", "aannaaan", "aaannaaa"),
    "pin": ("nnnn",),
}
"""The forms of passwords by type; each letter stands for a class of characters."""

_CHARACTERS = {
    "V": "AEIOU",
    "C": "BCDFGHJKLMNPQRSTVWXYZ",
    "v": "aeiou",
    "c": "bcdfghjklmnpqrstvwxyz",
    "a": "AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz",
    "n": "0123456789",
    "o": "@&%?,=[]_:-+*$#!'^~;()/.",
    "x": "AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz0123456789!@#$%^&*()",
}

_SCRYPT_WORK = 1 << 20
"""The work of one derivation, which takes about as long as reading this many characters."""

_BLOCK, _KEY = 16, 32
"""The bytes of a block and of a key of AES-256."""

_DECRYPTION = 256
"""The work of decrypting a byte: an assignment may decrypt 64 KiB, more than any secret has."""


@function("sha256sum", STRING, returns=STRING)
def sha256sum(text: str) -> str:
    """Return the SHA-256 checksum in hexadecimal."""
    return hashlib.sha256(to_bytes(text)).hexdigest()


@function("sha1sum", STRING, returns=STRING)
def sha1sum(text: str) -> str:
    """Return the SHA-1 checksum in hexadecimal."""
    return hashlib.sha1(to_bytes(text), usedforsecurity=False).hexdigest()


@function("adler32sum", STRING, returns=STRING)
def adler32sum(text: str) -> str:
    """Return the Adler-32 checksum in decimal."""
    return str(zlib.adler32(to_bytes(text)))


@function(
    "derivePassword", UINT32, STRING, STRING, STRING, STRING, returns=STRING, takes_budget=True
)
def derive_password(
    budget: Budget, counter: int, kind: str, password: str, user: str, site: str
) -> str:
    """Derive the password of a site from one password, by the Master Password algorithm."""
    templates = _TEMPLATES.get(kind)
    if templates is None:
        return f"cannot find password template {kind}"
    budget.spend(_SCRYPT_WORK, "derivePassword")
    key = hashlib.scrypt(
        to_bytes(password),
        salt=_SEED + _prefixed(user),
        n=32768,
        r=8,
        p=2,
        maxmem=61 << 20,
        dklen=64,
    )
    message = _SEED + _prefixed(site) + counter.to_bytes(4, "big")
    seed = hmac.digest(key, message, "sha256")
    template = templates[seed[0] % len(templates)]
    return "".join(
        _CHARACTERS[letter][byte % len(_CHARACTERS[letter])]
        for letter, byte in zip(template, seed[1:], strict=False)
    )


def _prefixed(text: str) -> bytes:
    """Return the bytes of a text, preceded by their number in four bytes."""
    data = to_bytes(text)
    return len(data).to_bytes(4, "big") + data


@function("decryptAES", STRING, STRING, returns=STRING, takes_budget=True)
def decrypt_aes(budget: Budget, password: str, text: str) -> str:
    """Decrypt the output of `encryptAES`: base64 of an initial block and AES-256-CBC data."""
    try:
        data = decode_base64(to_bytes(text))
    except CorruptInputError as error:
        raise FunctionError(str(error)) from None
    if not text:
        return ""
    capacity = len(to_bytes(text)) // 4 * 3
    if capacity < _BLOCK:
        raise FunctionError(
            f"runtime error: slice bounds out of range [:{_BLOCK}] with capacity {capacity}"
        )
    initial, encrypted = data[:_BLOCK], data[_BLOCK:]
    if len(encrypted) % _BLOCK:
        raise FunctionError("crypto/cipher: input not full blocks")
    if not encrypted:
        raise FunctionError("runtime error: index out of range [-1]")
    budget.spend(_DECRYPTION * len(encrypted), "decryptAES")
    # Few templates need this import, which takes long.
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes  # noqa: PLC0415

    key = to_bytes(password)[:_KEY].ljust(_KEY, b"\0")
    decryptor = Cipher(algorithms.AES(key), modes.CBC(initial)).decryptor()
    decrypted = decryptor.update(encrypted) + decryptor.finalize()
    padding = decrypted[-1]
    if padding > len(decrypted):
        raise FunctionError(
            f"runtime error: slice bounds out of range [:{len(decrypted) - padding}]"
        )
    return from_bytes(decrypted[: len(decrypted) - padding])
