"""The API of an Argo CD, read with a token.

    argocd = ArgoCD(server, token, environment, now=runtime.now, sleep=runtime.sleep)
    argocd.sees_all_applications(), argocd.applications("team=web"), argocd.cluster_names()

Lists leave out what the token may not see, with status 200; they have no pages.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import requests

from kalypso_actions import __version__
from kalypso_actions.clients.network import TIMEOUT, Session
from kalypso_actions.errors import KalypsoError, Location

LONGEST_RETRY: Final = timedelta(seconds=30)
"""How long the questions of one look are asked again after answers that may pass."""

PASSING: Final = frozenset({408, 425, 429, 500, 502, 503, 504})

LARGEST: Final = 1 << 29
"""The most bytes of an answer: a list item has about 11 kB, 40,000 Applications 440 MB."""

APPLICATION: Final = "Application"

UNUSED: Final = frozenset(
    {
        *("helm", "kustomize", "plugin", "history", "managedFields", "annotations", "comparedTo"),
        *("syncPolicy", "summary", "ignoreDifferences", "initiatedBy", "retry"),
    }
)
"""Fields that no rule reads, and that make most of a list: Helm's values stand there twice."""

ADVICE: Final[Mapping[int, str]] = {
    401: "give a valid token in argocd-tokens: it may have expired, or belong to another server",
    403: "allow the account of the token in argocd-rbac-cm: applications, get, */*",
}


class ArgoCD:
    """An Argo CD server. Sends the token to this server alone, and follows no redirect."""

    def __init__(
        self,
        url: str,
        token: str,
        environment: Mapping[str, str],
        *,
        now: Callable[[], datetime],
        sleep: Callable[[float], None],
    ) -> None:
        self.url = url.rstrip("/")
        self._session = Session(environment)
        self._session.headers["Authorization"] = f"Bearer {token}"
        self._session.headers["User-Agent"] = f"kalypso-actions/{__version__}"
        self._now, self._sleep = now, sleep
        self.begin_look()

    def begin_look(self) -> None:
        """Ask the next questions again for `LONGEST_RETRY` from now on."""
        self._end = self._now() + LONGEST_RETRY

    def applications(self, selector: str = "") -> tuple[Mapping[str, Any], ...]:
        """Return the Applications that the token sees, without the fields that nothing reads.

        `selector` is a label selector of Kubernetes. Raise KalypsoError if there is no answer.
        """
        answer = self._get("v1/applications", {"selector": selector} if selector else {})
        return tuple(answer.get("items") or ())

    def cluster_names(self) -> Mapping[str, str] | None:
        """Return the name of each cluster by its server's URL; None if the token may not list them.

        Raise KalypsoError if there is no answer.
        """
        answer = self._get("v1/clusters", {}, refusals=(403,))
        if answer is None:
            return None
        return {
            (cluster.get("server") or "").rstrip("/"): cluster.get("name") or ""
            for cluster in answer.get("items") or ()
        }

    def sees_all_applications(self) -> bool:
        """Return whether the token may get the Applications of all projects.

        Raise KalypsoError if there is no answer.
        """
        return bool(self._get("v1/account/can-i/applications/get/*/*", {}).get("value") == "yes")

    def version(self) -> str:
        """Return the version of Argo CD, such as `v3.5.1+4b0aee3`; raise KalypsoError."""
        # Outside of /api/v1, and readable without a token.
        return str(self._get("version", {}).get("Version") or "")

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def _get(self, path: str, parameters: Mapping[str, str], refusals: tuple[int, ...] = ()) -> Any:
        """Return an answer; None for a status of `refusals`."""
        url = f"{self.url}/api/{path}"
        pause = 1.0
        while True:
            status, content, wait = self._ask(url, parameters)
            if status == 200:
                return self._parsed(url, content)
            if status in refusals:
                return None
            pause = max(pause, wait)
            if status in PASSING | {0} and self._now() + timedelta(seconds=pause) < self._end:
                self._sleep(pause)
                pause *= 2
                continue
            raise self._refused(url, status, content)

    def _ask(self, url: str, parameters: Mapping[str, str]) -> tuple[int, bytes, float]:
        """Send one request; return the status, the content, and how long to wait, in seconds.

        The status is 0 if there is no answer.
        """
        try:
            with self._session.get(
                url,
                params=dict(parameters),
                timeout=TIMEOUT,
                allow_redirects=False,
                stream=True,
            ) as response:
                content = bytearray()
                for part in response.iter_content(1 << 20):
                    content += part
                    if len(content) > LARGEST:
                        raise KalypsoError(
                            f"{url} answers more than {LARGEST >> 20} MiB",
                            Location(self.url),
                            "name fewer Applications by argocd-selector",
                        )
                if response.is_redirect:
                    content = bytearray(f"it redirects to {response.headers['Location']}".encode())
                after = response.headers.get("Retry-After", "")
                wait = float(after) if after.isdigit() else 0.0
                return response.status_code, bytes(content), wait
        except requests.exceptions.SSLError as error:
            raise KalypsoError(
                f"the certificate of {self.url} is not trusted: {error}",
                Location(self.url),
                "name the file of your own certificates in REQUESTS_CA_BUNDLE",
            ) from error
        except requests.RequestException as error:
            return 0, str(error).encode(), 0.0

    def _parsed(self, url: str, content: bytes) -> Any:
        try:
            answer = json.loads(content, object_hook=_used)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            text = content[:200].decode("utf-8", "replace")
            raise KalypsoError(
                f"{url} answers no JSON object: {text!r}",
                Location(self.url),
                "check that argocd-servers names the URL of Argo CD's API server, without a login "
                "page in front of it",
            )
        return answer

    def _refused(self, url: str, status: int, content: bytes) -> KalypsoError:
        text = content[:500].decode("utf-8", "replace")
        try:
            said = json.loads(content)
            text = str(said.get("message") or said.get("error") or text)
        except (ValueError, AttributeError):
            pass
        answers = f"answers {status}" if status else "does not answer"
        advice = ADVICE.get(status, "check the server, and that the job may reach it")
        return KalypsoError(f"{url} {answers}: {text.strip()}", Location(self.url), advice)


def _used(content: dict[str, Any]) -> dict[str, Any]:
    """Drop the fields of an object that nothing reads, while the text is parsed."""
    for key in UNUSED & content.keys():
        del content[key]
    resources = content.get("resources")
    if isinstance(resources, list):
        content["resources"] = [
            each for each in resources if isinstance(each, dict) and each.get("kind") == APPLICATION
        ]
    return content
