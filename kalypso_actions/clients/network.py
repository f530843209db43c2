"""Proxies and certificates, from the environment that is given instead of the process's own."""

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
"""Files of trusted authorities; the first that is set counts."""

LINK_LOCAL: Final = ("169.254.0.0/16", "fe80::/10")

CONNECTIONS: Final = 100
"""Kept for further requests; GitHub takes so many at once. urllib3 drops others, and warns."""

TIMEOUT: Final = (10.0, 60.0)
"""Seconds to connect, and between two parts of an answer."""


def trusted_certificates(environment: Mapping[str, str]) -> str | bool:
    """The file of trusted authorities; True are those that come with requests.

    Raises UsageError where the file is missing.
    """
    for variable in CERTIFICATES:
        file = environment.get(variable, "")
        if file and not Path(file).exists():
            raise UsageError(f"{variable} names {file}, which does not exist")
        if file:
            return file
    return True


class Session(requests.Session):
    """A session of requests that looks at nothing but the given environment.

    Above all not into a .netrc file, whose password would replace the Authorization header.
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
        """As requests, with the proxies that the given environment has for the URL."""
        chosen = proxies or proxies_for(str(url), self._environment)
        return super().merge_environment_settings(url, chosen, stream, verify, cert)


def proxies_for(url: str, environment: Mapping[str, str]) -> dict[str, str]:
    """The proxy by scheme, by HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY.

    Names in lower case come first, as curl has it. What is on this machine or its link, where
    managed identities answer, is never asked through a proxy.
    """
    parts = urlsplit(url)
    direct = [*LINK_LOCAL, *_variable("no_proxy", environment).lower().split(",")]
    if is_loopback(url) or any(_is_of(parts, one.strip()) for one in direct):
        return {}
    proxy = _variable(f"{parts.scheme}_proxy", environment) or _variable("all_proxy", environment)
    return {parts.scheme: proxy} if proxy else {}


def _variable(name: str, environment: Mapping[str, str]) -> str:
    return environment.get(name, "") or environment.get(name.upper(), "")


def _is_of(url: SplitResult, exception: str) -> bool:
    """Whether an entry of NO_PROXY is for the URL: a domain, a host (with a port), a network, *."""
    host = url.hostname or ""
    if "/" in exception:
        return _is_in(host, exception)
    domain = exception.removeprefix("*").removeprefix(".")
    if not domain:
        return exception == "*"
    return domain in {host, url.netloc.lower()} or host.endswith("." + domain)


def _is_in(host: str, network: str) -> bool:
    """Whether an address lies in a network written as `10.0.0.0/8`."""
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False
