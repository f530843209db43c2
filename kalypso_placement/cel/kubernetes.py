"""Kubernetes' CEL libraries, and the functions of optional values.

https://kubernetes.io/docs/reference/using-api/cel/#cel-options-language-features-and-libraries
"""

from __future__ import annotations

import base64
import binascii
import functools
import ipaddress
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import ClassVar, Final
from urllib.parse import unquote_plus

from kalypso_actions.model.kubernetes_names import (
    dns_label_fault,
    label_key_fault,
    label_value_fault,
    object_name_fault,
)
from kalypso_go.gotemplate.urls import URL, URLError, parse_url
from kalypso_placement.cel.operators import STANDARD
from kalypso_placement.cel.signatures import constant, is_valid
from kalypso_placement.cel.values import (
    INT,
    NONE,
    EvaluationError,
    Function,
    Optional,
    Value,
    compare,
    equal,
    some,
)
from kalypso_placement.instants import parse_instant
from kalypso_placement.quantities import Quantity, parse_quantity

_ORDERED = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_SUMMED = {
    "int": 0,
    "uint": STANDARD["uint"](0),
    "double": 0.0,
    "duration": STANDARD["duration"](0),
}


def _extreme(sign: int) -> Function:
    def extreme(items: list[Value]) -> Value:
        if not items:
            raise EvaluationError("min or max called on empty list")
        best = items[0]
        for item in items[1:]:
            if compare(item, best) * sign > 0:
                best = item
        return best

    return extreme


def _is_sorted(items: list[Value]) -> bool:
    return all(compare(items[i], items[i + 1]) <= 0 for i in range(len(items) - 1))


def _total(zero: Value) -> Function:
    add = STANDARD["_+_"]
    return lambda items: functools.reduce(add, items) if items else zero


def _position(items: list[Value], wanted: Value, step: int = 1) -> int:
    return next((i for i in range(len(items))[::step] if equal(items[i], wanted)), -1)


def _unwrap(items: list[Optional]) -> list[Value]:
    return [item.content for item in items if item.present]


def _zero(value: Value) -> bool:
    return not value or getattr(value, "nanos", 1) == 0


OPTIONALS: Final[Mapping[str, Function]] = {
    "optional.of(dyn) -> dyn": some,
    "optional.none() -> dyn": constant(NONE),
    "optional.ofNonZeroValue(dyn) -> dyn": lambda value: NONE if _zero(value) else some(value),
    "optional_type<dyn>:value() -> dyn": Optional.value,
    "optional_type<dyn>:hasValue() -> bool": lambda optional: optional.present,
    "list<dyn>:first() -> dyn": lambda items: some(items[0]) if items else NONE,
    "list<dyn>:last() -> dyn": lambda items: some(items[-1]) if items else NONE,
}
"""The functions of optional values; the checker declares them in an extension of its own."""

LISTS: Final[Mapping[str, Function]] = {
    "optional.unwrap(list<optional_type<dyn>>) -> list<dyn>": _unwrap,
    "list<optional_type<dyn>>:unwrapOpt() -> list<dyn>": _unwrap,
    **{f"list<{kind}>:isSorted() -> bool": _is_sorted for kind in _ORDERED},
    **{f"list<{kind}>:min() -> {kind}": _extreme(-1) for kind in _ORDERED},
    **{f"list<{kind}>:max() -> {kind}": _extreme(1) for kind in _ORDERED},
    **{f"list<{kind}>:sum() -> {kind}": _total(zero) for kind, zero in _SUMMED.items()},
    "list<dyn>:indexOf(dyn) -> int": _position,
    "list<dyn>:lastIndexOf(dyn) -> int": lambda items, wanted: _position(items, wanted, -1),
}


Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True)
class CelURL:
    """A URL."""

    cel_type: ClassVar[str] = "kubernetes.URL"
    url: URL


@dataclass(frozen=True, slots=True)
class CelIP:
    """An IP address."""

    cel_type: ClassVar[str] = "net.IP"
    address: Address

    @property
    def cel_text(self) -> str:
        """The canonical text."""
        return str(self.address)


@dataclass(frozen=True, slots=True)
class CelCIDR:
    """A network; the address may have host bits."""

    cel_type: ClassVar[str] = "net.CIDR"
    address: Address
    bits: int

    @property
    def network(self) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
        """The network without host bits."""
        return ipaddress.ip_network((self.address, self.bits), strict=False)

    @property
    def cel_text(self) -> str:
        """The canonical text."""
        return f"{self.address}/{self.bits}"


def _url(text: str) -> CelURL:
    """Parse an absolute URL or an absolute path, as Go's ParseRequestURI does."""
    try:
        parsed = parse_url(text.replace("#", "%23"))
    except URLError as error:
        raise EvaluationError(str(error)) from error
    if not parsed.scheme and not text.startswith("/"):
        raise EvaluationError("invalid URI for request")
    return CelURL(parsed)


def _query(url: CelURL) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for part in url.url.query.split("&"):
        if part and ";" not in part:
            key, _, value = part.partition("=")
            values.setdefault(unquote_plus(key), []).append(unquote_plus(value))
    return values


def _port(url: CelURL) -> str:
    _, colon, port = url.url.host.rpartition(":")
    return port if colon and port.isdigit() else ""


def _ip(text: str) -> CelIP:
    try:
        address = ipaddress.ip_address(text)
    except ValueError as error:
        raise EvaluationError(str(error)) from error
    if isinstance(address, ipaddress.IPv6Address) and (address.ipv4_mapped or "%" in text):
        raise EvaluationError("the address is not allowed")
    return CelIP(address)


def _cidr(text: str) -> CelCIDR:
    host, slash, bits = text.partition("/")
    address = _ip(host).address
    if not slash or not re.fullmatch(r"0|[1-9]\d*", bits, re.ASCII):
        raise EvaluationError("not a network")
    if int(bits) > address.max_prefixlen:
        raise EvaluationError("the prefix is too long")
    return CelCIDR(address, int(bits))


def _contains_ip(cidr: CelCIDR, ip: CelIP) -> bool:
    return ip.address.version == cidr.address.version and ip.address in cidr.network


def _contains_cidr(cidr: CelCIDR, other: CelCIDR) -> bool:
    return cidr.bits <= other.bits and _contains_ip(cidr, CelIP(other.address))


def _is_global(ip: CelIP) -> bool:
    address = ip.address
    is_broadcast = str(address) == "255.255.255.255"
    return not (
        is_broadcast
        or address.is_unspecified
        or address.is_loopback
        or address.is_multicast
        or address.is_link_local
    )


def _is_link_local_multicast(ip: CelIP) -> bool:
    packed = ip.address.packed
    if ip.address.version == 4:
        return packed[:3] == bytes([224, 0, 0])
    return packed[0] == 0xFF and packed[1] & 0x0F == 0x02


ADDRESSES: Final[Mapping[str, Function]] = {
    "isURL(string) -> bool": is_valid(_url),
    "url(string) -> kubernetes.URL": _url,
    "kubernetes.URL:getScheme() -> string": lambda url: url.url.scheme,
    "kubernetes.URL:getHost() -> string": lambda url: url.url.host,
    "kubernetes.URL:getHostname() -> string": lambda url: url.url.hostname,
    "kubernetes.URL:getPort() -> string": _port,
    "kubernetes.URL:getEscapedPath() -> string": lambda url: url.url.escaped_path,
    "kubernetes.URL:getQuery() -> map<string, list<string>>": _query,
    "isIP(string) -> bool": is_valid(_ip),
    "ip(string) -> net.IP": _ip,
    "ip.isCanonical(string) -> bool": lambda text: _ip(text).cel_text == text,
    "net.IP:family() -> int": lambda ip: ip.address.version,
    "net.IP:isUnspecified() -> bool": lambda ip: ip.address.is_unspecified,
    "net.IP:isLoopback() -> bool": lambda ip: ip.address.is_loopback,
    "net.IP:isLinkLocalMulticast() -> bool": _is_link_local_multicast,
    "net.IP:isLinkLocalUnicast() -> bool": lambda ip: ip.address.is_link_local,
    "net.IP:isGlobalUnicast() -> bool": _is_global,
    "isCIDR(string) -> bool": is_valid(_cidr),
    "cidr(string) -> net.CIDR": _cidr,
    "net.CIDR:ip() -> net.IP": lambda cidr: CelIP(cidr.address),
    "net.CIDR:prefixLength() -> int": lambda cidr: cidr.bits,
    "net.CIDR:masked() -> net.CIDR": lambda c: CelCIDR(c.network.network_address, c.bits),
    "net.CIDR:containsIP(string) -> bool": lambda cidr, text: _contains_ip(cidr, _ip(text)),
    "net.CIDR:containsIP(net.IP) -> bool": _contains_ip,
    "net.CIDR:containsCIDR(string) -> bool": lambda cidr, text: _contains_cidr(cidr, _cidr(text)),
    "net.CIDR:containsCIDR(net.CIDR) -> bool": _contains_cidr,
}


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
    return "" if is_valid(_url)(text) else "invalid URI"


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


FORMAT_FUNCTIONS: Final[Mapping[str, Function]] = {
    "format.named(string) -> optional_type<dyn>": _named,
    "kubernetes.NamedFormat:validate(string) -> optional_type<list<string>>": _validate,
    **{f"format.{n}() -> kubernetes.NamedFormat": constant(f) for n, f in FORMATS.items()},
}


_SEMVER: Final = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?"
    r"(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?\Z",
    re.ASCII,
)


@dataclass(frozen=True, eq=False, slots=True)
class CelQuantity:
    """A quantity; equal by value."""

    cel_type: ClassVar[str] = "kubernetes.Quantity"
    quantity: Quantity

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CelQuantity) and self.quantity.value == other.quantity.value

    def __hash__(self) -> int:
        return hash(self.quantity.value)


@functools.total_ordering
@dataclass(frozen=True, eq=False, slots=True)
class CelSemver:
    """A version; the order ignores its build."""

    cel_type: ClassVar[str] = "kubernetes.Semver"
    numbers: tuple[int, int, int]
    pre: tuple[str, ...]

    @property
    def _key(self) -> tuple[object, ...]:
        parts = tuple((0, int(p), "") if p.isdigit() else (1, 0, p) for p in self.pre)
        return (self.numbers, not self.pre, parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CelSemver) and self._key == other._key

    def __lt__(self, other: CelSemver) -> bool:
        return self._key < other._key

    def __hash__(self) -> int:
        return hash(self._key)


OPAQUE: Final[Mapping[str, type]] = {
    kind.cel_type: kind for kind in (CelURL, CelQuantity, CelSemver, CelIP, CelCIDR, CelFormat)
}


def _quantity(text: str) -> CelQuantity:
    quantity = parse_quantity(text)
    if quantity is None:
        raise EvaluationError("not a quantity")
    return CelQuantity(quantity)


def _integer(quantity: CelQuantity) -> int | None:
    """Return the value if it has no fraction and fits into int64, like Kubernetes' isInteger."""
    amount = quantity.quantity
    if amount.exponent < 0 or not amount.text:
        return None
    value = amount.digits * 10**amount.exponent
    return value if INT[0] <= value <= INT[1] else None


def _as_integer(quantity: CelQuantity) -> int:
    value = _integer(quantity)
    if value is None:
        raise EvaluationError("cannot convert value to integer")
    return value


def _sum(left: CelQuantity, right: CelQuantity | int, sign: int = 1) -> CelQuantity:
    """Add at the smaller of the two exponents, as Kubernetes' int64Amount does."""
    first = left.quantity
    second = Quantity(right, 0, "exponent", "0") if isinstance(right, int) else right.quantity
    exponent = min(first.exponent, second.exponent)
    total = first.digits * 10 ** (first.exponent - exponent)
    total += sign * second.digits * 10 ** (second.exponent - exponent)
    text = f"{total}e{exponent}" if first.text and second.text else ""
    return CelQuantity(Quantity(total, exponent, first.format, text))


def _sign(quantity: CelQuantity) -> int:
    return (quantity.quantity.digits > 0) - (quantity.quantity.digits < 0)


def _order(left: CelQuantity, right: CelQuantity) -> int:
    first, second = left.quantity.value, right.quantity.value
    return (first > second) - (first < second)


def _semver(text: str) -> CelSemver:
    match = _SEMVER.match(text)
    if match is None:
        raise EvaluationError("not a semantic version")
    numbers = (int(match[1]), int(match[2]), int(match[3]))
    return CelSemver(numbers, tuple(match[4].split(".")) if match[4] else ())


LIBRARIES: Final[Mapping[str, Function]] = {
    **LISTS,
    **ADDRESSES,
    **FORMAT_FUNCTIONS,
    "isQuantity(string) -> bool": is_valid(_quantity),
    "quantity(string) -> kubernetes.Quantity": _quantity,
    "sign(kubernetes.Quantity) -> int": _sign,
    "kubernetes.Quantity:isInteger() -> bool": lambda value: _integer(value) is not None,
    "kubernetes.Quantity:asInteger() -> int": _as_integer,
    "kubernetes.Quantity:asApproximateFloat() -> double": lambda value: value.quantity.approximate,
    "kubernetes.Quantity:isGreaterThan(kubernetes.Quantity) -> bool": lambda a, b: _order(a, b) > 0,
    "kubernetes.Quantity:isLessThan(kubernetes.Quantity) -> bool": lambda a, b: _order(a, b) < 0,
    "kubernetes.Quantity:compareTo(kubernetes.Quantity) -> int": _order,
    "kubernetes.Quantity:add(kubernetes.Quantity) -> kubernetes.Quantity": _sum,
    "kubernetes.Quantity:add(int) -> kubernetes.Quantity": _sum,
    "kubernetes.Quantity:sub(kubernetes.Quantity) -> kubernetes.Quantity": lambda a, b: _sum(
        a, b, -1
    ),
    "kubernetes.Quantity:sub(int) -> kubernetes.Quantity": lambda a, b: _sum(a, b, -1),
    "isSemver(string) -> bool": is_valid(_semver),
    "semver(string) -> kubernetes.Semver": _semver,
    "kubernetes.Semver:isGreaterThan(kubernetes.Semver) -> bool": lambda a, b: b < a,
    "kubernetes.Semver:isLessThan(kubernetes.Semver) -> bool": lambda a, b: a < b,
    "kubernetes.Semver:compareTo(kubernetes.Semver) -> int": lambda a, b: (b < a) - (a < b),
    "kubernetes.Semver:major() -> int": lambda version: version.numbers[0],
    "kubernetes.Semver:minor() -> int": lambda version: version.numbers[1],
    "kubernetes.Semver:patch() -> int": lambda version: version.numbers[2],
}
