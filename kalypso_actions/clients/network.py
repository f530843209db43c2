"""Proxies and certificates, from a given environment instead of the process's own."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

import requests
from requests.adapters import HTTPAdapter

from kalypso_actions.errors import UsageError
from kalypso_actions.model.urls import is_loopback

CERTIFICATES: Final = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
"""Variables that name a file of CA certificates; the first that is set counts."""

LINK_LOCAL: Final = ("169.254.0.0/16", "fe80::/10")

CONNECTIONS: Final = 100
"""The size of the connection pool: GitHub's limit of concurrent requests."""

TIMEOUT: Final = (10.0, 60.0)
"""The maximum number of seconds to connect, and to wait between two parts of a response."""


def trusted_certificates(environment: Mapping[str, str]) -> str | bool:
    """Return the file of CA certificates; True to use those of `requests`.

    Raises UsageError if the file does not exist.
    """
    for variable in CERTIFICATES:
        file = environment.get(variable, "")
        if file and not Path(file).exists():
            raise UsageError(f"{variable} names {file}, which does not exist")
        if file:
            return file
    return True


class Session(requests.Session):
    """A session of `requests` that uses only the given environment.

    In particular, it reads no .netrc file: a password there would replace the Authorization header.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        super().__init__()
        self.trust_env = False
        self.verify = trusted_certificates(environment)
        self._environment = dict(environment)
        for scheme in ("https://", "http://"):
            self.mount(scheme, HTTPAdapter(pool_maxsize=CONNECTIONS))

    def merge_environment_settings(
        self, url: Any, proxies: Any, stream: Any, verify: Any, cert: Any
    ) -> Any:
        """Add the proxies of the given environment for the URL."""
        proxies = proxies or proxies_for(str(url), self._environment)
        return super().merge_environment_settings(url, proxies, stream, verify, cert)


def proxies_for(url: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the proxy by scheme, from HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY.

    As with curl, lower-case names come first. This machine and link-local addresses, where managed
    identities answer, never get a proxy.
    """
    parts = urlsplit(url)
    exceptions = [*LINK_LOCAL, *_variable("no_proxy", environment).lower().split(",")]
    if is_loopback(url) or any(_matches(parts, exception.strip()) for exception in exceptions):
        return {}
    proxy = _variable(f"{parts.scheme}_proxy", environment) or _variable("all_proxy", environment)
    return {parts.scheme: proxy} if proxy else {}


def _variable(name: str, environment: Mapping[str, str]) -> str:
    return environment.get(name, "") or environment.get(name.upper(), "")


def _matches(url: SplitResult, exception: str) -> bool:
    """Whether an entry of NO_PROXY (a domain, host, host:port, network or *) matches the URL."""
    host = url.hostname or ""
    if "/" in exception:
        return _is_in(host, exception)
    domain = exception.removeprefix("*").removeprefix(".")
    if not domain:
        return exception == "*"
    return domain in {host, url.netloc.lower()} or host.endswith("." + domain)


def _is_in(host: str, network: str) -> bool:
    """Whether an address is in a network such as `10.0.0.0/8`."""
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False
