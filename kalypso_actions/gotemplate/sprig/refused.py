"""The functions of sprig that do not exist here, and why.

What is rendered is committed and compared with what was rendered before, so it must not change
from run to run; and whoever may write a template must not read the machine that renders it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_RANDOM = "it is random, so that every run would give another output"
_KEYS = "it makes new keys, so that every run would give another output"

REFUSED: Mapping[str, str] = MappingProxyType(
    {
        "env": "it reads the environment of the program that renders, secrets included",
        "expandenv": "it reads the environment of the program that renders, secrets included",
        "getHostByName": "it asks the network, whose answer may be another in the next run",
        "now": "it reads the clock, so that every run would give another output",
        "ago": "it reads the clock, so that every run would give another output",
        "randAlpha": _RANDOM,
        "randAlphaNum": _RANDOM,
        "randAscii": _RANDOM,
        "randNumeric": _RANDOM,
        "shuffle": _RANDOM,
        "uuidv4": _RANDOM,
        "encryptAES": "it begins with random bytes, so that every run would give another output",
        "genPrivateKey": _KEYS,
        "genCA": _KEYS,
        "genSelfSignedCert": _KEYS,
        "genSignedCert": _KEYS,
        "buildCustomCert": "it serves genSignedCert alone, which makes new keys in every run",
    }
)
"""Name and reason, as one sentence that goes on after the name."""
