"""The functions of Masterminds/sprig 2.22.0 (`TxtFuncMap`) whose results are reproducible.

    template = gotemplate.parse(text, functions=sprig.FUNCTIONS, refused=sprig.REFUSED)

Each module holds the functions of one topic; the decorator `signature.function` declares a function
with its Go signature. The output is committed and compared with earlier output, and authors of
templates must not read the machine that renders them: `REFUSED` has the reasons why other functions
are missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kalypso_go.gotemplate.sprig import (  # noqa: F401 - importing declares the functions
    case,
    crypto,
    dates,
    dicts,
    encoding,
    lists,
    numbers,
    paths,
    reflection,
    regex,
    semver,
    strings,
)
from kalypso_go.gotemplate.sprig.signature import DECLARED
from kalypso_go.gotemplate.values import Function

__all__ = ["FUNCTIONS", "REFUSED"]

FUNCTIONS: Mapping[str, Function] = MappingProxyType(DECLARED)

_ENVIRONMENT = "it reads the environment of the rendering program, including secrets"
_CLOCK = "it reads the clock, so the output would differ in every run"
_RANDOM = "it is random, so the output would differ in every run"
_KEYS = "it generates new keys, so the output would differ in every run"

REFUSED: Mapping[str, str] = MappingProxyType(
    {
        "env": _ENVIRONMENT,
        "expandenv": _ENVIRONMENT,
        "getHostByName": "it queries the network, whose answer may change from run to run",
        "now": _CLOCK,
        "ago": _CLOCK,
        "randAlpha": _RANDOM,
        "randAlphaNum": _RANDOM,
        "randAscii": _RANDOM,
        "randNumeric": _RANDOM,
        "shuffle": _RANDOM,
        "uuidv4": _RANDOM,
        "encryptAES": "it uses random bytes, so the output would differ in every run",
        "genPrivateKey": _KEYS,
        "genCA": _KEYS,
        "genSelfSignedCert": _KEYS,
        "genSignedCert": _KEYS,
        "buildCustomCert": "only genSignedCert uses it, which generates new keys in every run",
    }
)
"""Maps the name to the reason, which continues a sentence about the function."""
