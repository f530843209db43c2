"""Proxies and certificates, from the environment that is given instead of the process's own."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import requests
from requests.utils import should_bypass_proxies

from kalypso_actions.errors import UsageError

CERTIFICATES: Final = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
"""Files of trusted authorities; the first that is set counts."""

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
    if _is_near(url) or should_bypass_proxies(url, no_proxy=_variable("no_proxy", environment)):
        return {}
    scheme = urlsplit(url).scheme
    proxy = _variable(f"{scheme}_proxy", environment) or _variable("all_proxy", environment)
    return {scheme: proxy} if proxy else {}


def _variable(name: str, environment: Mapping[str, str]) -> str:
    return environment.get(name, "") or environment.get(name.upper(), "")


def _is_near(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    return address.is_loopback or address.is_link_local
