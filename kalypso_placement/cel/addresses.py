"""Kubernetes' CEL libraries of URLs, IP addresses and networks."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final
from urllib.parse import unquote_plus

from kalypso_go.gotemplate.urls import URL, URLError, parse_url
from kalypso_placement.cel.signatures import Implementation, is_valid
from kalypso_placement.cel.values import EvaluationError

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


def parse(text: str) -> CelURL:
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


ADDRESSES: Final[Mapping[str, Implementation]] = {
    "isURL(string) -> bool": is_valid(parse),
    "url(string) -> kubernetes.URL": parse,
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
