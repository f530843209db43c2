"""Kubernetes' CEL library of named formats."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import ClassVar, Final

from kalypso_actions.model.kubernetes_names import (
    dns_label_fault,
    label_key_fault,
    label_value_fault,
    object_name_fault,
)
from kalypso_placement.cel import addresses
from kalypso_placement.cel.signatures import Implementation, constant, is_valid
from kalypso_placement.cel.values import NONE, Optional, some
from kalypso_placement.instants import parse_instant

_UUID: Final = re.compile(r"(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\Z")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d\Z", re.ASCII)
_DNS_1035: Final = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?\Z")


@dataclass(frozen=True, slots=True)
class CelFormat:
    """A named format."""

    cel_type: ClassVar[str] = "kubernetes.NamedFormat"
    name: str
    fault: Callable[[str], str]


def _prefix(check: Callable[[str], str]) -> Callable[[str], str]:
    """Check a name prefix, which may end with a hyphen."""
    return lambda text: check(f"{text[:-1]}a" if len(text) > 1 and text.endswith("-") else text)


def _dns_1035_fault(text: str) -> str:
    return "" if len(text) <= 63 and _DNS_1035.match(text) else "is no DNS-1035 label"


def _byte_fault(text: str) -> str:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return "invalid base64"
    return "" if text else "invalid base64"


def _date_fault(text: str) -> str:
    try:
        if _DATE.match(text):
            date.fromisoformat(text)
            return ""
    except ValueError:
        pass
    return "invalid date"


def _uri_fault(text: str) -> str:
    return "" if is_valid(addresses.parse)(text) else "invalid URI"


FORMATS: Final[Mapping[str, CelFormat]] = {
    name: CelFormat(name, fault)
    for name, fault in {
        "dns1123Label": dns_label_fault,
        "dns1123Subdomain": object_name_fault,
        "dns1035Label": _dns_1035_fault,
        "qualifiedName": label_key_fault,
        "dns1123LabelPrefix": _prefix(dns_label_fault),
        "dns1123SubdomainPrefix": _prefix(object_name_fault),
        "dns1035LabelPrefix": _prefix(_dns_1035_fault),
        "labelValue": label_value_fault,
        "uri": _uri_fault,
        "uuid": lambda text: "" if _UUID.match(text) else "does not match the UUID format",
        "byte": _byte_fault,
        "date": _date_fault,
        "datetime": lambda text: "" if parse_instant(text) is not None else "invalid datetime",
    }.items()
}


def _validate(form: CelFormat, text: str) -> Optional:
    fault = form.fault(text)
    return some([fault]) if fault else NONE


def _named(name: str) -> Optional:
    return some(FORMATS[name]) if name in FORMATS else NONE


FORMAT_FUNCTIONS: Final[Mapping[str, Implementation]] = {
    "format.named(string) -> optional_type<dyn>": _named,
    "kubernetes.NamedFormat:validate(string) -> optional_type<list<string>>": _validate,
    **{f"format.{n}() -> kubernetes.NamedFormat": constant(f) for n, f in FORMATS.items()},
}
